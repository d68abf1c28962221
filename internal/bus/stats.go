package bus

import (
	"sync/atomic"

	"github.com/seed256f7767/spade/internal/observe"
)

// Stats counts what a client has done since New.
type Stats struct {
	Appended, AppendedBytes int64 // records acknowledged
	Fetched, FetchedBytes   int64 // records read
	Retries                 int64 // requests tried again
	Stalls                  int64 // partitions that had records and yielded none for StallTimeout
	Lost                    int64 // records that are no event
	Commits                 int64 // offset commits accepted
	Rebalances              int64 // generations joined

	AppendTime observe.Distribution // of an Append, to the acknowledgement of all its events
}

type counters struct {
	appended, appendedBytes, fetched, fetchedBytes, retries, stalls, lost, commits, rebalances atomic.Int64

	appendTime *observe.Histogram
}

// Stats returns the counters of now.
func (c *Client) Stats() Stats {
	s := &c.stats
	return Stats{
		Appended: s.appended.Load(), AppendedBytes: s.appendedBytes.Load(),
		Fetched: s.fetched.Load(), FetchedBytes: s.fetchedBytes.Load(),
		Retries: s.retries.Load(), Stalls: s.stalls.Load(), Lost: s.lost.Load(),
		Commits: s.commits.Load(), Rebalances: s.rebalances.Load(),
		AppendTime: s.appendTime.Snapshot(),
	}
}
