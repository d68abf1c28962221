package warehouse

import (
	"context"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
)

// progress is how far the lanes of this process have finished, and who waits for it.
type progress struct {
	mu      sync.Mutex // guards the following
	next    map[Place]int64
	changed chan struct{} // closed and replaced when next grows
	waiters int
}

func newProgress() *progress {
	return &progress{next: map[Place]int64{}, changed: make(chan struct{})}
}

func (p *progress) advance(place Place, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if next <= p.next[place] {
		return
	}
	p.next[place] = next
	close(p.changed)
	p.changed = make(chan struct{})
}

// missing drops from want what has been reached and returns a channel that closes at the next change.
func (p *progress) missing(want map[Place]int64) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	for place, next := range want {
		if p.next[place] >= next {
			delete(want, place)
		}
	}
	return p.changed
}

func (p *progress) wait(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters += n
}

// awaited reports whether somebody waits, so that lanes should not.
func (p *progress) awaited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiters > 0
}

// pollInterval is how often other processes' progress is looked up.
const pollInterval = 250 * time.Millisecond

// WaitFor returns once the warehouse holds everything before the positions, whoever wrote it: this sink or another process
// of the group. While it waits, this sink flushes without delay.
func (s *Sink) WaitFor(ctx context.Context, positions bus.Positions) error {
	want := map[Place]int64{}
	for topic, parts := range positions {
		for p, next := range parts {
			if next > 0 {
				want[Place{topic, p}] = next
			}
		}
	}
	s.progress.wait(1)
	defer s.progress.wait(-1)
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		changed := s.progress.missing(want)
		if len(want) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return s.behind(ctx, want)
		case <-changed:
			// Only this process's own lanes: the poll goes on, for what others write.
		case <-poll.C:
			s.poll(ctx)
		}
	}
}

// poll takes over what the warehouse says; it is only a look, so an error is left to the next one.
func (s *Sink) poll(ctx context.Context) {
	for group := range s.groups {
		positions, err := s.set.Store.Positions(ctx, group)
		if err != nil {
			s.log.Debug("warehouse positions not read", "error", err)
			continue
		}
		for topic, parts := range positions {
			for p, next := range parts {
				s.progress.advance(Place{topic, p}, next)
			}
		}
	}
}
