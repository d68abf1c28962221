package rollout

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Handler plays what spade.environments accepts.
func (p *Player) Handler() bus.Handler {
	return bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
		p.plays.hold(claim.Partition, claim.Generation)
		return &processor{player: p, claim: claim, open: map[uuid.UUID]design{}, judged: map[uuid.UUID]int32{}}, nil
	})
}

// processor plays the environments of one partition. A design comes before its verdict, so offsets are committed no
// further than the first design that has none.
type processor struct {
	player *Player
	claim  *bus.Claim
	open   map[uuid.UUID]design
	judged map[uuid.UUID]int32 // iterations of those that have their verdict
}

// design is a designed environment without a verdict.
type design struct {
	msg    *spadepb.EnvironmentDesigned
	offset int64
}

func (d design) env() uuid.UUID { return uuid.UUID(d.msg.GetEnvId()) }

// Process plays the environments that a batch accepts, in the order of the log. When the partition is about to be taken away
// it begins no other and hands back those that are left, so that little is played twice. What takes longer than the time that is left
// goes on, and is taken up where the partition comes back.
func (p *processor) Process(ctx context.Context, b bus.Batch) error {
	next, admitted := b.Next, true
	work, ctx := errgroup.WithContext(ctx)
	for _, ev := range b.Events {
		if !topics.OfRun(ev.Key, p.player.Run.ID) {
			continue
		}
		msg, err := ev.Message()
		if err != nil {
			work.Go(func() error { return p.player.Poison.Event(ctx, ev, err) })
			continue
		}
		d, accepted, ok := p.take(ev, msg)
		if !ok || p.closed(accepted.GetIteration()) || p.player.plays.isPlayed(d.env()) {
			continue // delivered again: after a kill between the last append and its commit, or behind a design without a verdict
		}
		one := p.play(ctx, d, accepted, admitted)
		if one == nil {
			admitted, next = false, min(next, d.offset)
			continue
		}
		work.Go(func() error { return p.player.finish(ctx, accepted, one) })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	p.tidy()
	for _, d := range p.open {
		next = min(next, d.offset)
	}
	if err := p.claim.Commit(b.Topic, next); err != nil || admitted {
		return err
	}
	return fmt.Errorf("environments of partition %d are not played: %w", b.Partition, bus.ErrHandedBack)
}

// play takes up or begins an environment; nil when it may not be played any more.
func (p *processor) play(ctx context.Context, d design, ok *spadepb.EnvironmentAccepted, admitted bool) *playing {
	if !admitted {
		return nil
	}
	if one := p.player.plays.resume(d.env()); one != nil {
		return one
	}
	if !p.player.admit(ctx, p.claim.Ending()) {
		return nil
	}
	return p.player.start(ctx, p.claim.Partition, d.msg, ok)
}

// take notes a design, or returns it when the event accepts it.
func (p *processor) take(ev event.Event, msg any) (d design, accepted *spadepb.EnvironmentAccepted, ok bool) {
	switch m := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		env := uuid.UUID(m.GetEnvId())
		_, known := p.open[env]
		_, judged := p.judged[env]
		if !known && !judged {
			p.open[env] = design{m, ev.Offset}
		}
	case *spadepb.EnvironmentRejected:
		env := uuid.UUID(m.GetEnvId())
		delete(p.open, env)
		p.judged[env] = m.GetIteration()
	case *spadepb.EnvironmentAccepted:
		env := uuid.UUID(m.GetEnvId())
		d, ok = p.open[env]
		delete(p.open, env)
		p.judged[env] = m.GetIteration()
		return d, m, ok
	}
	return design{}, nil, false
}

// tidy forgets closed iterations. A design that comes a second time, from a designer that was stalled, has no verdict of its own: it
// would hold the commits for ever.
func (p *processor) tidy() {
	maps.DeleteFunc(p.open, func(_ uuid.UUID, d design) bool { return p.closed(d.msg.GetIteration()) })
	maps.DeleteFunc(p.judged, func(_ uuid.UUID, iteration int32) bool { return p.closed(iteration) })
	p.player.plays.forget(p.closed)
}

func (p *processor) closed(iteration int32) bool {
	return p.player.Closed != nil && p.player.Closed(iteration)
}

func (p *processor) Idle(context.Context) error    { return nil }
func (p *processor) Revoked(context.Context) error { return nil }
func (p *processor) Lost()                         {}
