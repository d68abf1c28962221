package observe

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Histogram counts durations by bucket. The zero value is not usable; begin with NewHistogram. Nil drops what it is given.
// It may be used concurrently.
type Histogram struct {
	bounds []float64 // upper ends, seconds, ascending
	counts []atomic.Uint64
	nanos  atomic.Int64
}

// Buckets of durations in seconds.
var (
	// Fast is for what takes milliseconds: an append, a flush.
	Fast = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
	// Slow is for what may take minutes: a generation by a model, a training step.
	Slow = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
)

// NewHistogram makes a histogram with those upper ends of its buckets, in seconds and ascending.
func NewHistogram(bounds []float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts one duration.
func (h *Histogram) Observe(d time.Duration) {
	if h == nil {
		return
	}
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i].Add(1)
	h.nanos.Add(int64(d))
}

// Since counts the time from started to now; it is made for defer.
func (h *Histogram) Since(started time.Time) { h.Observe(time.Since(started)) }

// Distribution is what a histogram holds at one moment.
type Distribution struct {
	Count   uint64
	Sum     float64            // seconds
	Buckets map[float64]uint64 // how many were at most that long, cumulative
}

// Snapshot is what the histogram holds now; an empty distribution of nil.
func (h *Histogram) Snapshot() Distribution {
	d := Distribution{Buckets: map[float64]uint64{}}
	if h == nil {
		return d
	}
	for i := range h.counts {
		d.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			d.Buckets[h.bounds[i]] = d.Count
		}
	}
	d.Sum = float64(h.nanos.Load()) / float64(time.Second)
	return d
}

// Add joins two distributions of the same buckets.
func (d Distribution) Add(other Distribution) Distribution {
	sum := Distribution{Count: d.Count + other.Count, Sum: d.Sum + other.Sum, Buckets: map[float64]uint64{}}
	for _, from := range []Distribution{d, other} {
		for bound, n := range from.Buckets {
			sum.Buckets[bound] += n
		}
	}
	return sum
}

// Quantile is the upper end of the bucket that holds the q-th part of what was observed, +Inf past the last one, 0 of
// nothing.
func (d Distribution) Quantile(q float64) float64 {
	if d.Count == 0 {
		return 0
	}
	want := uint64(math.Ceil(q * float64(d.Count)))
	best := math.Inf(1)
	for bound, n := range d.Buckets {
		if n >= want {
			best = min(best, bound)
		}
	}
	return best
}
