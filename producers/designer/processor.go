package designer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

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
	waiting, handBack := context.WithCancelCause(ctx)
	defer p.whenEnding(waiting, handBack)()
	var handed atomic.Bool
	design := func(req *spadepb.DesignRequested) error {
		err := handedBack(waiting, p.designer.design(ctx, waiting, req))
		if errors.Is(err, bus.ErrHandedBack) {
			handed.Store(true) // the slots that do not wait are let finish
			return nil
		}
		return err
	}
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
			work.Go(func() error { return design(req) })
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	if handed.Load() {
		return fmt.Errorf("designs of partition %d are unfinished: %w", b.Partition, bus.ErrHandedBack)
	}
	return p.claim.Commit(b.Topic, b.Next)
}

// whenEnding hands the partition back when it is about to be taken away: the lower slots that its slots wait for may lie in
// partitions that nobody works on until the group has settled. stop ends the watching.
func (p *processor) whenEnding(ctx context.Context, handBack context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-p.claim.Ending():
			handBack(bus.ErrHandedBack)
		case <-ctx.Done():
		}
	}()
	return func() {
		handBack(nil)
		<-done
	}
}

// handedBack gives an error the class of what ended the waiting. Another error that came at the same time comes again.
func handedBack(waiting context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(waiting), bus.ErrHandedBack) {
		return fmt.Errorf("%w: %w", bus.ErrHandedBack, err)
	}
	return err
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
