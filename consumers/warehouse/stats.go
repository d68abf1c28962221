package warehouse

import (
	"sync/atomic"

	"github.com/seed256f7767/spade/internal/observe"
)

// Stats counts what a sink has done since New.
type Stats struct {
	Events      int64 // events in finished flushes
	Repeats     int64 // events left out because an earlier record had their id
	DeadLetters int64 // events that could not become rows
	Rows        int64 // rows in blocks that were inserted
	Flushes     int64
	Repaired    int64 // unfinished ranges of an earlier writer that were repeated
	Fenced      int64 // flushes refused because another writer held the partition
	Retries     int64 // statements tried again
	Found       int64 // blocks that had been sent before and whose rows were all there

	FlushTime observe.Distribution // of finished flushes, repeated statements included
}

type counters struct {
	events, repeats, deadLetters, rows, flushes, repaired, fenced, retries, found atomic.Int64

	flushTime *observe.Histogram
}

// Stats returns the counters of now.
func (s *Sink) Stats() Stats {
	c := &s.stats
	return Stats{
		Events: c.events.Load(), Repeats: c.repeats.Load(), DeadLetters: c.deadLetters.Load(), Rows: c.rows.Load(),
		Flushes: c.flushes.Load(), Repaired: c.repaired.Load(), Fenced: c.fenced.Load(), Retries: c.retries.Load(), Found: c.found.Load(),
		FlushTime: c.flushTime.Snapshot(),
	}
}
