package rebuild

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/tables"
)

// lane is one partition of one topic.
type lane struct {
	place     warehouse.Place
	group     string
	number    uint64 // of the lane, for the filter
	tail      *bus.Tail
	target    int64
	withdrawn []warehouse.Withdrawal
}

func (l *lane) remaining() int64 { return max(0, l.target-l.tail.Next()) }

// open finds out what there is to read.
func (w *Warehouse) open(ctx context.Context) error {
	w.live = bus.Positions{}
	live := warehouse.NewClickHouse(w.set.Conn)
	w.ids = map[string]string{}
	for group, names := range warehouse.Groups(w.set.Topics) {
		positions, err := live.Positions(ctx, group)
		if err != nil {
			// It may be what has to be repaired. Dead letters that are there already are then appended once more, under the same ids.
			w.log.Warn("the warehouse does not say how far it is", "error", err)
		}
		known, err := w.set.Log.TopicIDs(ctx, names...)
		if err != nil {
			return err
		}
		for _, topic := range names {
			w.live[topic] = positions[topic]
			if id, ok := known[topic]; ok {
				w.ids[topic] = id.String()
			}
			first, err := w.set.Log.FirstOffsets(ctx, topic)
			if err != nil {
				return err
			}
			for p, offset := range first {
				w.lanes = append(w.lanes, &lane{
					place: warehouse.Place{Topic: topic, Partition: p}, group: group, number: uint64(len(w.lanes)),
					tail: w.set.Log.Tail(topic, p, offset),
				})
			}
		}
	}
	left, err := w.aim(ctx)
	w.seen = newFilter(left)
	return err
}

// aim sets every lane's target to the end of the log and says how many records are left.
func (w *Warehouse) aim(ctx context.Context) (left int64, err error) {
	ends := map[string]map[int32]int64{}
	for _, l := range w.lanes {
		at := ends[l.place.Topic]
		if at == nil {
			if at, err = w.set.Log.HighWatermarks(ctx, l.place.Topic); err != nil {
				return 0, err
			}
			ends[l.place.Topic] = at
		}
		l.target = at[l.place.Partition]
		left += l.remaining()
	}
	w.total.Store(w.records.Load() + left)
	return left, nil
}

const (
	// nearEnd is how many records may be left when the live writers are stopped.
	nearEnd = 10_000
	// maxPasses bounds how often a log that grows as fast as it is read is followed before they are.
	maxPasses = 10
)

// fill reads until little is left of a log that may grow meanwhile.
func (w *Warehouse) fill(ctx context.Context) error {
	for range maxPasses {
		if err := w.pass(ctx); err != nil {
			return err
		}
		left, err := w.aim(ctx)
		if err != nil || left <= nearEnd {
			return err
		}
	}
	return nil
}

// catchUp reads what was appended until the live writers were stopped.
func (w *Warehouse) catchUp(ctx context.Context) error {
	if _, err := w.aim(ctx); err != nil {
		return err
	}
	return w.pass(ctx)
}

// pass reads every lane up to its target, several side by side, the longest first.
func (w *Warehouse) pass(ctx context.Context) error {
	var queue []*lane
	for _, l := range w.lanes {
		if l.remaining() > 0 {
			queue = append(queue, l)
		}
	}
	slices.SortFunc(queue, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(b.remaining(), a.remaining()), cmp.Compare(a.number, b.number))
	})
	next := make(chan *lane, len(queue))
	for _, l := range queue {
		next <- l
	}
	close(next)
	g, working := errgroup.WithContext(ctx)
	for range min(w.cfg.Parallel, len(queue)) {
		g.Go(func() error { return w.work(working, next) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return w.redact(ctx)
}

// redact removes the texts of the documents that were withdrawn.
func (w *Warehouse) redact(ctx context.Context) error {
	for _, l := range w.lanes {
		if len(l.withdrawn) == 0 {
			continue
		}
		err := retry(ctx, w.log, "remove text", func() error { return w.store.Redact(ctx, l.place, l.withdrawn) })
		if err != nil {
			return err
		}
		l.withdrawn = nil
	}
	return nil
}

// writeOffsets records how far the new tables hold the log, for the writers that go on from there.
func (w *Warehouse) writeOffsets(ctx context.Context) error {
	var rows []string
	for _, l := range w.lanes {
		if l.tail.Next() > 0 {
			rows = append(rows, fmt.Sprintf("(%s, %s, %s, %d, %d, 0, 0, now64(6))", tables.Quote(l.group), tables.Quote(l.place.Topic),
				tables.Quote(w.ids[l.place.Topic]), l.place.Partition, l.tail.Next()))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return w.exec(ctx, "INSERT INTO %s.%s (sink, topic_id, incarnation, partition, next_offset, generation, writer, finished_at) VALUES %s",
		w.database, tables.OffsetsTable, strings.Join(rows, ", "))
}
