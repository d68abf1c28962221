package gym

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// greetTimeout is how long a fresh process may take to confine itself.
const greetTimeout = 20 * time.Second

// spawner starts processes on one thread of its own, which lives until the last of them is gone. It keeps some ready, so
// that opening a worker does not wait for a process to start.
type spawner struct {
	begin func() (*proc, error)
	want  chan struct{}
	ready chan spawned
	quit  chan struct{}
	done  chan struct{}
	// surplus counts wants that were given up.
	surplus atomic.Int64
	spares  int
}

type spawned struct {
	proc *proc
	err  error
}

// newSpawner keeps spares processes ready, of at most most that are wanted at a time. Begin starts one.
func newSpawner(begin func() (*proc, error), spares, most int) *spawner {
	return &spawner{
		begin: begin, spares: spares,
		want: make(chan struct{}, spares+most), ready: make(chan spawned, spares+most),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
}

func (s *spawner) start() {
	for range s.spares {
		s.want <- struct{}{}
	}
	go s.run()
}

func (s *spawner) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, after stop has ended the processes
	defer close(s.done)
	for {
		select {
		case <-s.quit:
			return
		case <-s.want:
		}
		if s.surplus.Load() > 0 {
			s.surplus.Add(-1)
			continue
		}
		p, err := s.begin()
		select {
		case s.ready <- spawned{p, err}:
		case <-s.quit:
			if p != nil {
				_ = p.close()
			}
			return
		}
	}
}

// stop ends the spare processes and the thread. Every other process must have ended before.
func (s *spawner) stop() error {
	close(s.quit)
	<-s.done
	var errs []error
	for {
		select {
		case got := <-s.ready:
			if got.proc != nil {
				errs = append(errs, got.proc.close())
			}
		default:
			return errors.Join(errs...)
		}
	}
}

// take returns a fresh, confined process. A spare that died or never started is passed over.
func (s *spawner) take(ctx context.Context) (*proc, error) {
	var last error
	for range s.spares + 2 {
		p, err := s.next(ctx)
		if err == nil {
			return p, nil
		}
		last = err
		var unborn *startError
		var refused *refusal
		if ctx.Err() != nil || errors.Is(err, ErrClosed) || errors.As(err, &refused) || !errors.As(err, &unborn) && s.spares == 0 {
			break
		}
	}
	return nil, last
}

func (s *spawner) next(ctx context.Context) (*proc, error) {
	select {
	case s.want <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done: // nobody takes them any more
		return nil, ErrClosed
	}
	var got spawned
	select {
	case got = <-s.ready:
	case <-ctx.Done():
		s.surplus.Add(1)
		return nil, ctx.Err()
	case <-s.done:
		return nil, ErrClosed
	}
	if got.err != nil {
		return nil, got.err
	}
	defer got.proc.interruptible(ctx)()
	if err := got.proc.greet(ctx, greetTimeout); err != nil {
		return nil, errors.Join(unborn(err), got.proc.close())
	}
	return got.proc, nil
}
