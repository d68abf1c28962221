package gym

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/python"
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
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "p90-ms")
}

// From nothing to an interpreter in its sandbox that has said so.
func BenchmarkPythonColdStart(b *testing.B) { acquire(b, -1, 0) }

// From a spare.
func BenchmarkPythonWarmAcquire(b *testing.B) { acquire(b, 2, 100*time.Millisecond) }

// The reference: the interpreter alone, which does nothing, without a sandbox.
func BenchmarkPythonAlone(b *testing.B) {
	found, err := python.Find(context.Background(), "python3")
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := exec.Command(found.Path, append(python.Flags(), "-c", "pass")...).Run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	report(b, took)
}

// What the platform holds more of memory while an environment writes half a gigabyte.
func BenchmarkPythonFlood(b *testing.B) {
	p := newPool(b, Config{})
	code := inPythonStep("import os\nfor _ in range(500): os.write(1, b'x' * (1 << 20))")
	var most uint64
	for b.Loop() {
		_, grown := flood(b, p, code)
		most = max(most, grown)
	}
	b.ReportMetric(float64(most)/(1<<20), "host-MB")
}
