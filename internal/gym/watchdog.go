package gym

import (
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// watchEvery is the pause between two looks at the memory of the workers that are running code.
const watchEvery = 25 * time.Millisecond

// watchSlack is what the program itself may hold in memory: its text, the runtime, stacks.
const watchSlack = 128 << 20

// watchdog measures busy workers from outside and ends those that hold too much. It sleeps while none is busy.
type watchdog struct {
	limit uint64
	wake  chan struct{}
	quit  chan struct{}
	done  chan struct{}

	mu   sync.Mutex // guards busy
	busy map[*proc]struct{}
}

func newWatchdog(memory uint64) *watchdog {
	return &watchdog{
		limit: memory + watchSlack,
		wake:  make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		busy: map[*proc]struct{}{},
	}
}

func (w *watchdog) enter(p *proc) {
	w.mu.Lock()
	w.busy[p] = struct{}{}
	first := len(w.busy) == 1
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (w *watchdog) leave(p *proc) {
	w.mu.Lock()
	delete(w.busy, p)
	w.mu.Unlock()
}

func (w *watchdog) run() {
	defer close(w.done)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-tick.C:
		}
		if w.look() > 0 {
			continue
		}
		select {
		case <-w.quit:
			return
		case <-w.wake:
		}
	}
}

// look measures the busy workers and returns how many there are.
func (w *watchdog) look() int {
	w.mu.Lock()
	busy := make([]*proc, 0, len(w.busy))
	for p := range w.busy {
		busy = append(busy, p)
	}
	w.mu.Unlock()
	for _, p := range busy {
		measure := sandbox.TreeRSS
		if p.start.layers.Has(sandbox.Seccomp) {
			measure = sandbox.RSS // it cannot have started another
		}
		if measure(p.cmd.Process.Pid) > w.limit {
			p.kill(&deathError{cause: causeMemory, text: memoryText})
		}
	}
	return len(busy)
}

func (w *watchdog) stop() {
	close(w.quit)
	<-w.done
}
