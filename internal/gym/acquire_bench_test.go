package gym

import (
	"context"
	"slices"
	"testing"
	"time"
)

// acquire measures how long it takes to get a fresh, confined Python process. The parts of its life that a caller does not
// wait for are left out: rest is how long after one the next is asked for.
func acquire(b *testing.B, spares int, rest time.Duration) {
	p := newPool(b, Config{Spares: spares, MaxWorkers: 4})
	l := launch{runtime: RuntimePython}
	first, err := p.take(context.Background(), l)
	if err != nil {
		b.Fatal(err)
	}
	if err := first.close(); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		time.Sleep(rest)
		began := time.Now()
		proc, err := p.take(context.Background(), l)
		took = append(took, time.Since(began))
		if err != nil {
			b.Fatal(err)
		}
		if err := proc.close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "p90-ms")
}

// From nothing to an interpreter in its sandbox that has said so.
func BenchmarkPythonColdStart(b *testing.B) { acquire(b, -1, 0) }

// From a spare.
func BenchmarkPythonWarmAcquire(b *testing.B) { acquire(b, 2, 100*time.Millisecond) }
