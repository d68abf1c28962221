package designer

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Handler answers the requests of spade.work.
func (d *Designer) Handler() bus.Handler {
	return bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
		return &processor{designer: d, claim: claim}, nil
	})
}

// processor answers the requests of one partition.
type processor struct {
	designer *Designer
	claim    *bus.Claim
}

// Process answers a batch's requests side by side: they wait for lower slots of their iteration, and those that come
// later in the partition never hold up earlier ones.
func (p *processor) Process(ctx context.Context, b bus.Batch) error {
	work, ctx := errgroup.WithContext(ctx)
	for _, ev := range b.Events {
		if !topics.OfRun(ev.Key, p.designer.Run.ID) {
			continue
		}
		msg, err := ev.Message()
		if err != nil {
			work.Go(func() error { return p.designer.Poison.Event(ctx, ev, err) })
			continue
		}
		if req, ok := msg.(*spadepb.DesignRequested); ok {
			work.Go(func() error { return p.designer.Design(ctx, req) })
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return p.claim.Commit(b.Topic, b.Next)
}

func (p *processor) Idle(context.Context) error    { return nil }
func (p *processor) Revoked(context.Context) error { return nil }
func (p *processor) Lost()                         {}
