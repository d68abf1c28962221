package rollout

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
)

// playing is an environment whose episodes are being played, or have been.
type playing struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once the following are set
	events []event.Event
	err    error
	forget *time.Timer // runs while nobody waits for it
}

// plays are what a player plays. Each is played in a goroutine that outlives the claim it was begun under: a group that is joined
// by another process takes every partition away for a moment, and what takes long to play would never come to its end where
// processes come and go.
type plays struct {
	mu     sync.Mutex // guards the following
	wg     sync.WaitGroup
	closed bool
	byEnv  map[uuid.UUID]*playing
}

// keepFor is how long a play that nobody waits for goes on. A group has settled long before; what has not come back by then is
// played by another process.
const keepFor = 30 * time.Second

// start plays an environment until close.
func (p *plays) start(ctx context.Context, env uuid.UUID, play func(context.Context) ([]event.Event, error)) *playing {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &playing{cancel: cancel, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		cancel()
	}
	if p.byEnv == nil {
		p.byEnv = map[uuid.UUID]*playing{}
	}
	p.byEnv[env] = one
	p.wg.Go(func() {
		defer close(one.done)
		one.events, one.err = play(ctx)
	})
	return one
}

// resume is the play of an environment that was begun before, nil where there is none that can be used.
func (p *plays) resume(env uuid.UUID) *playing {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.byEnv[env]
	if one == nil {
		return nil
	}
	if one.forget != nil {
		one.forget.Stop()
		one.forget = nil
	}
	if one.failed() {
		p.drop(env, one)
		return nil
	}
	return one
}

func (one *playing) failed() bool {
	select {
	case <-one.done:
		return one.err != nil
	default:
		return false
	}
}

// leave notes that nobody waits for a play any more.
func (p *plays) leave(env uuid.UUID, one *playing, keep time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.byEnv[env] != one {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(keep, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if one.forget == timer {
			p.drop(env, one)
		}
	})
	one.forget = timer
}

// end forgets a play.
func (p *plays) end(env uuid.UUID, one *playing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(env, one)
}

func (p *plays) drop(env uuid.UUID, one *playing) {
	one.cancel()
	if p.byEnv[env] == one {
		delete(p.byEnv, env)
	}
}

// close ends every play and waits for them. Those that are begun later end at once.
func (p *plays) close() {
	p.mu.Lock()
	p.closed = true
	for env, one := range p.byEnv {
		if one.forget != nil {
			one.forget.Stop()
		}
		p.drop(env, one)
	}
	p.mu.Unlock()
	p.wg.Wait()
}
