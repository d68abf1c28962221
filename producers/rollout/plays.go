package rollout

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
)

// playing is an environment whose episodes are being played, or have been.
type playing struct {
	partition int32 // that the environment is delivered in
	cancel    context.CancelFunc
	done      chan struct{} // closed once the following are set
	events    []event.Event
	err       error
	forget    *time.Timer // runs while nobody waits for it
}

// plays are what a player plays. Each is played in a goroutine that outlives the claim it was begun under: a group that is joined
// by another process takes every partition away for a moment, and what takes long to play would never come to its end where
// processes come and go.
type plays struct {
	mu     sync.Mutex // guards the following
	wg     sync.WaitGroup
	closed bool
	byEnv  map[uuid.UUID]*playing
	held   map[int32]int32 // newest generation that each partition was held in
	// played are the iterations of what was played and acknowledged, until they are closed. Offsets are committed no further than
	// the oldest design that has no verdict, so what lies behind it comes again whenever the group settles anew.
	played map[uuid.UUID]int32
}

// keepFor is how long a play that nobody waits for goes on, settleFor how long it does once the group has settled and its partition
// has not come back: another process plays it then.
const (
	keepFor   = 30 * time.Second
	settleFor = time.Second
)

func newPlays() *plays {
	return &plays{byEnv: map[uuid.UUID]*playing{}, held: map[int32]int32{}, played: map[uuid.UUID]int32{}}
}

// hold notes that a partition was given to this process.
func (p *plays) hold(partition, generation int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[partition] = generation
	if len(p.byEnv) > 0 {
		time.AfterFunc(settleFor, func() { p.settle(generation) })
	}
}

// settle ends the plays whose partitions went to others in a generation.
func (p *plays) settle(generation int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for env, one := range p.byEnv {
		if one.forget != nil && p.held[one.partition] < generation {
			one.forget.Stop()
			p.drop(env, one)
		}
	}
}

// start plays an environment until close.
func (p *plays) start(
	ctx context.Context, env uuid.UUID, partition int32, play func(context.Context) ([]event.Event, error),
) *playing {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &playing{partition: partition, cancel: cancel, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		cancel()
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

// acknowledge ends a play whose episodes are in the log.
func (p *plays) acknowledge(env uuid.UUID, one *playing, iteration int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played[env] = iteration
	p.drop(env, one)
}

// isPlayed reports whether this process has played an environment.
func (p *plays) isPlayed(env uuid.UUID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, played := p.played[env]
	return played
}

// forget drops what is known of iterations that are closed.
func (p *plays) forget(closed func(iteration int32) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.played, func(_ uuid.UUID, iteration int32) bool { return closed(iteration) })
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
