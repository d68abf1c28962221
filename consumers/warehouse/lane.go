package warehouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
)

// lane is one partition of one topic. Offsets of events are those of their last record: in that order the log completes
// them, each exactly once.
type lane struct {
	part  *partition
	place Place
	state State

	events    []event.Event // gathered and not flushed, in order
	bytes     int           // that they take
	since     time.Time     // when the first of them came
	delivered int64         // everything before it was delivered, events or not
	behind    bool          // the partition has more that was not delivered yet
}

// resume takes over the state that the warehouse has. Events that it holds already are dropped, and those before a range that was
// planned: there was none for the writer that planned it. To another one the second writing of a large event may be one, when it
// begins to read after the first.
func (l *lane) resume(s State) {
	if s.Plan != nil {
		s.Next = max(s.Next, s.Plan.First)
	}
	l.state = s
	kept := l.events[:0]
	l.bytes = 0
	for _, ev := range l.events {
		if ev.LastOffset >= s.Next {
			kept = append(kept, ev)
			l.bytes += weight(&ev)
		}
	}
	clear(l.events[len(kept):])
	l.events = kept
}

// eventBytes is about what an event takes besides its payload. Without it many small ones would take many times what they count
// for.
const eventBytes = 512

func weight(ev *event.Event) int { return len(ev.Payload) + eventBytes }

func (l *lane) add(ev *event.Event) {
	if ev.LastOffset < l.state.Next {
		return
	}
	if len(l.events) == 0 {
		l.since = time.Now()
	}
	l.events = append(l.events, *ev)
	l.bytes += weight(ev)
	l.delivered = max(l.delivered, ev.LastOffset+1)
}

// due reports whether the lane must flush now: it is full, or holds all of the range that has to be repeated.
func (l *lane) due(full int) bool {
	if len(l.events) == 0 {
		return false
	}
	if plan := l.state.Plan; plan != nil {
		return l.delivered > plan.Last
	}
	return l.bytes >= full
}

// pending reports whether a flush would change anything. While a range has to be repeated nothing may be flushed before all
// of it is here.
func (l *lane) pending() bool {
	if plan := l.state.Plan; plan != nil {
		return l.delivered > plan.Last
	}
	return len(l.events) > 0 || l.delivered > l.state.Next
}

// flush makes everything that was gathered durable, in one range or, where it is too large for one block, in several.
func (l *lane) flush(ctx context.Context) error {
	slots := l.part.sink.flushing
	if err := slots.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait to flush: %w", err)
	}
	defer slots.Release(1)
	for l.pending() {
		err := l.flushRange(ctx)
		if errors.Is(err, ErrFenced) {
			err = l.reclaim(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reclaimDelay is how long a fenced lane waits before it takes the claim back: time for the group to tell this process that
// the partition is no longer its own, which ends ctx.
const reclaimDelay = time.Second

// reclaim answers a claim that is no longer ours. Most often the partition went to another process and ctx is about to end;
// a server that restarted may also have read an older claim. The state is read again, because the other writer may have
// gone further.
func (l *lane) reclaim(ctx context.Context) error {
	l.part.sink.stats.fenced.Add(1)
	l.part.sink.log.Warn("warehouse partition is held by another writer", "topic", l.place.Topic, "partition", l.place.Partition)
	t := time.NewTimer(reclaimDelay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	return l.part.load(ctx)
}

// flushRange flushes one range: the unfinished one, if there is one, or as many of the gathered events as make a block.
func (l *lane) flushRange(ctx context.Context) error {
	started := time.Now()
	if err := l.part.same(ctx, l.place.Topic); err != nil {
		return err
	}
	b, err := l.convert(ctx)
	if err != nil {
		return err
	}
	defer b.release()
	if len(b.blocks) > 0 {
		if err := l.insert(ctx, b); err != nil {
			return err
		}
	}
	if err := l.finish(ctx, b); err != nil {
		return err
	}
	l.part.sink.stats.flushTime.Since(started)
	return nil
}

// insert writes the plan, then the blocks, then removes texts.
func (l *lane) insert(ctx context.Context, b *batch) error {
	store, p := l.part.sink.set.Store, l.part
	repeated := l.state.Plan != nil
	if repeated {
		p.sink.stats.repaired.Add(1)
	} else {
		err := p.retry(ctx, "plan", func(ctx context.Context) error { return store.Plan(ctx, l.place, p.writer, b.span) })
		if err != nil {
			return err
		}
		span := b.span
		l.state.Plan = &span
	}
	for _, block := range b.blocks {
		if err := l.insertBlock(ctx, block, b.span, repeated); err != nil {
			return err
		}
		p.sink.stats.rows.Add(block.Record.NumRows())
	}
	if len(b.withdrawn) == 0 {
		return nil
	}
	return p.retry(ctx, "remove text", func(ctx context.Context) error { return store.Redact(ctx, l.place, b.withdrawn) })
}

// insertBlock inserts one block: at once when it cannot have been sent before, which is nearly always, or else what the table lacks
// of it.
func (l *lane) insertBlock(ctx context.Context, block tables.Block, span Range, repeated bool) error {
	p := l.part
	if !repeated {
		token := Token(block.Table.Name, l.place, span)
		err := p.once(ctx, func(ctx context.Context) error { return p.sink.set.Store.Insert(ctx, block.Table, token, block.Record) })
		if err == nil || !errors.Is(err, ErrTransient) {
			return wrap("insert into "+block.Table.Name, err)
		}
		p.sink.stats.retries.Add(1)
		p.sink.log.Warn("warehouse insert is tried again", "table", block.Table.Name, "error", err)
	}
	return l.complete(ctx, block, span)
}

// finish records how far the lane is and lets Kafka know.
func (l *lane) finish(ctx context.Context, b *batch) error {
	p := l.part
	next := b.next
	if b.taken == len(l.events) {
		next = max(next, l.delivered)
	}
	err := p.retry(ctx, "finish", func(ctx context.Context) error {
		return p.sink.set.Store.Finish(ctx, l.place, p.writer, next)
	})
	if err != nil {
		return err
	}
	l.state = State{Next: next}
	rest := l.events[b.taken:]
	l.events = append(make([]event.Event, 0, len(rest)), rest...)
	l.bytes = 0
	for i := range l.events {
		l.bytes += weight(&l.events[i])
	}
	c := &p.sink.stats
	c.events.Add(int64(b.taken))
	c.repeats.Add(int64(b.repeats))
	c.deadLetters.Add(int64(b.dead))
	c.flushes.Add(1)
	p.sink.progress.advance(l.place, next)
	return p.claim.Commit(l.place.Topic, next)
}
