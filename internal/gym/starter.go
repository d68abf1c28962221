package gym

import (
	"context"
	"runtime"
)

// starter starts single processes on one thread of its own, which lives until the last of them is gone.
type starter struct {
	requests   chan request
	quit, done chan struct{}
}

type request struct {
	begin func() (*proc, error)
	reply chan spawned
	// gone is closed when nobody waits for the reply any more.
	gone <-chan struct{}
}

func newStarter() *starter {
	return &starter{requests: make(chan request), quit: make(chan struct{}), done: make(chan struct{})}
}

func (s *starter) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, after stop has ended the processes
	defer close(s.done)
	for {
		select {
		case <-s.quit:
			return
		case r := <-s.requests:
			p, err := r.begin()
			select {
			case r.reply <- spawned{p, err}:
			case <-r.gone:
				if p != nil {
					_ = p.close() // nobody has seen it
				}
			}
		}
	}
}

func (s *starter) start(ctx context.Context, begin func() (*proc, error)) (*proc, error) {
	r := request{begin: begin, reply: make(chan spawned), gone: ctx.Done()}
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, ErrClosed
	}
	select {
	case got := <-r.reply:
		return got.proc, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stop ends the thread. Every process that it has started must have ended before.
func (s *starter) stop() {
	close(s.quit)
	<-s.done
}
