package corpus

import (
	"context"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Limits of one call of Append.
const (
	batchEvents = 1000
	batchBytes  = 4 << 20
)

// batcher collects events and appends them together.
type batcher struct {
	appender Appender
	index    *Index
	stamp    func(started time.Time) *spadepb.Observed

	events   []event.Event
	payloads []*spadepb.DocumentIngested
	bytes    int
}

// add takes one chunk and appends the batch when it is full. started is when the chunk's file was begun.
func (b *batcher) add(ctx context.Context, c chunk, started time.Time) error {
	var obs *spadepb.Observed
	if b.stamp != nil {
		obs = b.stamp(started)
	}
	ev, err := event.New(c.id.String(), c.id, 0, c.payload, obs)
	if err != nil {
		return err
	}
	b.events = append(b.events, ev)
	b.payloads = append(b.payloads, c.payload)
	b.bytes += len(ev.Payload)
	if len(b.events) >= batchEvents || b.bytes >= batchBytes {
		return b.flush(ctx)
	}
	return nil
}

// flush appends what was collected. Only what is acknowledged enters the index.
func (b *batcher) flush(ctx context.Context) error {
	if len(b.events) == 0 {
		return nil
	}
	if err := b.appender.Append(ctx, b.events...); err != nil {
		return fmt.Errorf("append documents: %w", err)
	}
	for _, p := range b.payloads {
		b.index.ingested(p)
	}
	clear(b.events)
	clear(b.payloads)
	b.events, b.payloads, b.bytes = b.events[:0], b.payloads[:0], 0
	return nil
}
