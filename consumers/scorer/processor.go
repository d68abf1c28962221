package scorer

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/consumers"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Log is what the scorer needs of the log; *bus.Client is one.
type Log interface {
	consumers.Appender
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
}

// Handler scores what spade.environments and spade.rollouts hold of a run. It is for a group that reads both.
func Handler(run runs.Run, source *observe.Source, log Log, poison *deadletter.Writer) bus.Handler {
	return bus.HandlerFunc(func(ctx context.Context, claim *bus.Claim) (bus.Processor, error) {
		p := &processor{
			fold: NewPartition(run, source), claim: claim, log: log, poison: poison, next: map[string]int64{},
		}
		if err := p.closeScored(ctx, run); err != nil {
			return nil, err
		}
		return p, nil
	})
}

// closeScored closes the groups that were scored before this process took the partition: an episode of one of them that is
// repeated would otherwise open a group that nothing ever closes, and hold back the commits for ever.
func (p *processor) closeScored(ctx context.Context, run runs.Run) error {
	ends, err := p.log.HighWatermarks(ctx, topics.Regrets)
	if err != nil {
		return fmt.Errorf("find the scores: %w", err)
	}
	// The regrets' topic is co-partitioned with what is scored.
	to := map[int32]int64{p.claim.Partition: ends[p.claim.Partition]}
	err = p.log.Read(ctx, topics.Regrets, run.Positions[topics.Regrets], to, p.fold.Scored)
	if err != nil {
		return fmt.Errorf("read the scores: %w", err)
	}
	return nil
}

// processor scores one partition.
type processor struct {
	fold   *Partition
	claim  *bus.Claim
	log    Log
	poison *deadletter.Writer
	next   map[string]int64 // after what was delivered, by topic
}

// Process folds a batch, appends what follows from it, and then commits up to the oldest open group in either topic.
func (p *processor) Process(ctx context.Context, b bus.Batch) error {
	var results []event.Event
	for _, ev := range b.Events {
		events, err := p.fold.Add(ev)
		if err != nil {
			if err := p.poison.Event(ctx, ev, err); err != nil {
				return err
			}
			continue
		}
		results = append(results, events...)
	}
	if len(results) > 0 {
		if err := p.log.Append(ctx, results...); err != nil {
			return fmt.Errorf("append scores: %w", err)
		}
	}
	p.next[b.Topic] = b.Next
	if b.Topic == topics.Environments && b.Next >= b.End {
		p.fold.Forget(p.next[topics.Rollouts])
	}
	for topic, next := range p.next {
		if oldest, open := p.fold.OldestOpen(topic); open {
			next = min(next, oldest)
		}
		if err := p.claim.Commit(topic, next); err != nil {
			return err
		}
	}
	return nil
}

func (p *processor) Idle(context.Context) error    { return nil }
func (p *processor) Revoked(context.Context) error { return nil }
func (p *processor) Lost()                         {}
