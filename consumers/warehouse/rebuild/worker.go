package rebuild

import (
	"context"
	"fmt"
	"math"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// worker turns the events of one lane after the other into blocks, while the blocks before are inserted.
type worker struct {
	w        *Warehouse
	set      *tables.Set
	texts    *warehouse.Texts
	blocks   chan []tables.Block
	inserted chan struct{} // one for each item of blocks that is in
	sent     int           // items of blocks that are not known to be in
	suspects []suspect
}

// suspect is an event whose id may have been before. It is looked up once everything before it is in.
type suspect struct {
	lane  *lane
	event event.Event
}

// maxSuspects is how many are looked up together.
const maxSuspects = 2000

// work takes lanes until there are no more.
func (w *Warehouse) work(ctx context.Context, lanes <-chan *lane) error {
	g, ctx := errgroup.WithContext(ctx)
	k := &worker{
		w: w, set: tables.NewStampedSet(w.set.Memory, w.catalogue, w.at), texts: warehouse.NewTexts(w.set.Embedder),
		blocks: make(chan []tables.Block), inserted: make(chan struct{}, 1),
	}
	g.Go(func() error { return k.insertAll(ctx) })
	g.Go(func() error {
		defer close(k.blocks)
		defer k.set.Release()
		return k.readAll(ctx, lanes)
	})
	return g.Wait()
}

func (k *worker) readAll(ctx context.Context, lanes <-chan *lane) error {
	for l := range lanes {
		last := l.tail.Next()
		err := l.tail.ReadTo(ctx, l.target, func(ev event.Event) error {
			if d := ev.LastOffset - last; d >= 256 {
				k.w.records.Add(d)
				last = ev.LastOffset
			}
			return k.add(ctx, l, ev)
		})
		if err != nil {
			return err
		}
		k.w.records.Add(l.target - last)
	}
	for {
		if err := k.flush(ctx); err != nil {
			return err
		}
		if len(k.suspects) == 0 && k.set.TotalBytes() == 0 && k.texts.Bytes() == 0 {
			return k.settled(ctx)
		}
	}
}

// add takes in one event.
func (k *worker) add(ctx context.Context, l *lane, ev event.Event) error {
	k.w.events.Add(1)
	if k.w.seen.has(idOf(ev.ID, l.number)) {
		k.suspects = append(k.suspects, suspect{l, ev})
		if len(k.suspects) >= maxSuspects {
			return k.flush(ctx)
		}
		return nil
	}
	_, err := k.convert(ctx, l, &ev)
	return err
}

// convert adds the rows of an event, or makes it a dead letter, which is no first record, because no table remembers it.
func (k *worker) convert(ctx context.Context, l *lane, ev *event.Event) (ok bool, err error) {
	msg, err := k.set.AppendSafely(ev)
	if err != nil {
		return false, k.deadLetter(ctx, ev, err)
	}
	k.w.seen.add(idOf(ev.ID, l.number))
	if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
		l.withdrawn = append(l.withdrawn, warehouse.Withdrawal{Document: uuid.UUID(m.GetDocumentId()), Before: ev.LastOffset})
	}
	k.texts.Note(ev, msg)
	if k.set.TotalBytes()+k.texts.Bytes() < k.w.cfg.BlockBytes {
		return true, nil
	}
	return true, k.flush(ctx)
}

// deadLetter makes an event that cannot become rows durable elsewhere, unless the sink, which had come further, has done it.
func (k *worker) deadLetter(ctx context.Context, ev *event.Event, reason error) error {
	k.w.dead.Add(1)
	if ev.Topic == topics.DeadLetters || ev.LastOffset < k.w.live[ev.Topic][ev.Partition] {
		return nil
	}
	r := event.Record{
		Topic: ev.Topic, Key: []byte(ev.Key), Value: ev.Payload, Partition: ev.Partition, Offset: ev.LastOffset, Time: ev.Time,
	}
	if err := k.w.set.DeadLetter(ctx, r, reason); err != nil {
		return fmt.Errorf("dead letter: %w", err)
	}
	return nil
}

// flush hands over what was collected, and then judges the suspects.
func (k *worker) flush(ctx context.Context) error {
	if err := k.texts.Append(ctx, k.set); err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if blocks := k.set.Blocks(); len(blocks) > 0 {
		if err := k.send(ctx, blocks); err != nil {
			return err
		}
	}
	if len(k.suspects) == 0 {
		return nil
	}
	if err := k.settled(ctx); err != nil {
		return err
	}
	return k.judge(ctx)
}

func (k *worker) send(ctx context.Context, blocks []tables.Block) error {
	for {
		select {
		case k.blocks <- blocks:
			k.sent++
			return nil
		case <-k.inserted:
			k.sent--
		case <-ctx.Done():
			release(blocks)
			return ctx.Err()
		}
	}
}

// settled waits until everything that was handed over is in.
func (k *worker) settled(ctx context.Context) error {
	for ; k.sent > 0; k.sent-- {
		select {
		case <-k.inserted:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// judge looks up the suspects, adds those that were not before, the first of each id, and forgets the others.
func (k *worker) judge(ctx context.Context) error {
	byLane := map[*lane][]event.Event{}
	var order []*lane
	for _, s := range k.suspects {
		if byLane[s.lane] == nil {
			order = append(order, s.lane)
		}
		byLane[s.lane] = append(byLane[s.lane], s.event)
	}
	k.suspects = nil
	for _, l := range order {
		var present map[uuid.UUID]bool
		err := retry(ctx, k.w.log, "look up events", func() (err error) {
			present, err = k.w.store.Present(ctx, l.place, math.MaxInt64, byLane[l])
			return err
		})
		if err != nil {
			return err
		}
		for _, ev := range byLane[l] {
			if present[ev.ID] {
				k.w.repeats.Add(1)
				continue
			}
			if present[ev.ID], err = k.convert(ctx, l, &ev); err != nil {
				return err
			}
		}
	}
	return nil
}
