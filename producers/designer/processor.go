package designer

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
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
			if err := p.designer.check(req); err != nil {
				work.Go(func() error { return p.designer.Poison.Event(ctx, ev, err) })
				continue
			}
			work.Go(func() error { return p.designer.Design(ctx, req) })
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return p.claim.Commit(b.Topic, b.Next)
}

// check refuses a request that the run cannot have made. It would wait for ever for lower slots that nobody asks for.
func (d *Designer) check(req *spadepb.DesignRequested) error {
	k, slot := req.GetIteration(), req.GetSlot()
	if k < 0 || slot < 0 || k >= d.Run.Config.GetIterations() || slot >= d.Run.Config.GetDesigns() {
		return fmt.Errorf("design request for iteration %d slot %d: %w", k, slot, event.ErrMalformed)
	}
	if env := ids.Env(d.Run.ID, int(k), int(slot), 0); env != uuid.UUID(req.GetEnvId()) {
		return fmt.Errorf("design request for iteration %d slot %d names another environment: %w", k, slot, event.ErrMalformed)
	}
	return nil
}

func (p *processor) Idle(context.Context) error    { return nil }
func (p *processor) Revoked(context.Context) error { return nil }
func (p *processor) Lost()                         {}
