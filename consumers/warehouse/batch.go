package warehouse

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// cutBytes is the size of a table's rows from which no further event goes into the same range. It leaves room below
// tables.MaxBlockBytes for the event that crosses it.
const cutBytes = tables.MaxBlockBytes / 4 * 3

// batch is a range turned into blocks.
type batch struct {
	span      Range
	taken     int   // events of the lane that the range covers
	next      int64 // offset after the range's last event
	blocks    []tables.Block
	withdrawn []Withdrawal
	repeats   int
	dead      int
}

func (b *batch) release() {
	for _, block := range b.blocks {
		block.Record.Release()
	}
}

// convert turns the range that is to be repeated, or else as many events as make a block, into blocks. The same events
// always make the same blocks.
func (l *lane) convert(ctx context.Context) (*batch, error) {
	if len(l.events) == 0 {
		return &batch{next: l.delivered}, nil
	}
	events, span := l.candidates()
	if len(events) == 0 {
		return &batch{next: span.Last + 1}, nil
	}
	var present map[uuid.UUID]bool
	err := l.part.retry(ctx, "look up events", func(ctx context.Context) (err error) {
		present, err = l.part.sink.set.Store.Present(ctx, l.place, span.First, events)
		return err
	})
	if err != nil {
		return nil, err
	}
	c := &conversion{lane: l, events: events, present: present, bad: map[int]error{}}
	for {
		b, err := c.run(ctx)
		var p *conversionPanic
		if errors.As(err, &p) {
			// The panic may have left half a row behind: begin again without the event.
			c.bad[p.index] = p
			continue
		}
		return b, err
	}
}

// candidates are the events of the range to be repeated, or else all. Those of a planned range need not stand at its ends: the
// writer that planned it may have taken a record for an event that yields nothing here, and no rows.
func (l *lane) candidates() ([]event.Event, Range) {
	plan := l.state.Plan
	if plan == nil {
		return l.events, Range{l.events[0].LastOffset, l.events[len(l.events)-1].LastOffset}
	}
	n := 0
	for n < len(l.events) && l.events[n].LastOffset <= plan.Last {
		n++
	}
	return l.events[:n], *plan
}

// conversion is one attempt to turn events into blocks.
type conversion struct {
	lane    *lane
	events  []event.Event
	present map[uuid.UUID]bool
	bad     map[int]error // events whose conversion panicked before

	set   *tables.Set
	out   *batch
	seen  map[uuid.UUID]bool
	texts *Texts // to be embedded
}

type conversionPanic struct {
	index int
	value any
}

func (p *conversionPanic) Error() string { return fmt.Sprintf("conversion panicked: %v", p.value) }

func (c *conversion) run(ctx context.Context) (*batch, error) {
	sink := c.lane.part.sink
	c.set = tables.NewSet(sink.set.Memory, sink.catalogue, c.lane.part.writer.Token)
	defer c.set.Release()
	c.out = &batch{}
	c.seen = make(map[uuid.UUID]bool, len(c.events))
	c.texts = NewTexts(sink.set.Embedder)
	for i := range c.events {
		if err := c.add(ctx, i); err != nil {
			return nil, err
		}
		c.out.taken = i + 1
		if c.lane.state.Plan == nil && c.set.Bytes()+c.texts.Bytes() >= sink.cut {
			break
		}
	}
	err := c.lane.part.retry(ctx, "embed", func(ctx context.Context) error { return c.texts.Append(ctx, c.set) })
	if err != nil {
		return nil, err
	}
	c.out.span = Range{First: c.events[0].LastOffset, Last: c.events[c.out.taken-1].LastOffset}
	if plan := c.lane.state.Plan; plan != nil {
		c.out.span = *plan
	}
	c.out.next = c.out.span.Last + 1
	c.out.blocks = c.set.Blocks()
	return c.out, nil
}

// add converts one event, unless an earlier record had its id. A record that cannot become rows is no first record: the
// tables do not remember it, so counting it would make the result depend on where ranges are cut.
func (c *conversion) add(ctx context.Context, i int) error {
	ev := &c.events[i]
	if c.present[ev.ID] || c.seen[ev.ID] {
		c.out.repeats++
		return nil
	}
	reason := c.bad[i]
	if reason == nil {
		msg, err := c.append(i, ev)
		if err == nil {
			c.seen[ev.ID] = true
			c.note(ev, msg)
			return nil
		}
		reason = err
	}
	var p *conversionPanic
	if errors.As(reason, &p) && c.bad[i] == nil {
		return reason
	}
	return c.deadLetter(ctx, ev, reason)
}

func (c *conversion) append(i int, ev *event.Event) (msg proto.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &conversionPanic{i, r}
		}
	}()
	return c.set.AppendEncoded(ev)
}

// note remembers what else an event asks for: the removal of a text, a vector.
func (c *conversion) note(ev *event.Event, msg proto.Message) {
	if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
		c.out.withdrawn = append(c.out.withdrawn, Withdrawal{uuid.UUID(m.GetDocumentId()), ev.LastOffset})
	}
	c.texts.Note(ev, msg)
}

// latest is the last withdrawal of each document: one that was ingested again and withdrawn again has two.
func latest(withdrawn []Withdrawal) []Withdrawal {
	at := make(map[uuid.UUID]int, len(withdrawn))
	var out []Withdrawal
	for _, w := range withdrawn {
		if i, ok := at[w.Document]; ok {
			out[i].Before = max(out[i].Before, w.Before)
			continue
		}
		at[w.Document] = len(out)
		out = append(out, w)
	}
	return out
}

// deadLetter makes an event that cannot become rows durable elsewhere. An event of the dead letters themselves is only
// counted, or it would come back for ever.
func (c *conversion) deadLetter(ctx context.Context, ev *event.Event, reason error) error {
	c.out.dead++
	c.lane.part.sink.log.Warn("event cannot become rows",
		"topic", ev.Topic, "partition", ev.Partition, "offset", ev.LastOffset, "reason", reason)
	if ev.Topic == topics.DeadLetters {
		return nil
	}
	r := event.Record{
		Topic: ev.Topic, Key: []byte(ev.Key), Value: ev.Payload, Partition: ev.Partition, Offset: ev.LastOffset, Time: ev.Time,
	}
	return c.lane.part.retry(ctx, "dead letter", func(ctx context.Context) error {
		err := c.lane.part.sink.set.DeadLetter(ctx, r, reason)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTransient, err)
		}
		return nil
	})
}
