package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func vector(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func TestKernelsAgreeWithFloat64AtEveryLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 300; n++ {
		a, b := vector(r, n), vector(r, n)
		var dotWant, eucWant, manWant float64
		for i := range a {
			d := float64(a[i]) - float64(b[i])
			dotWant += float64(a[i]) * float64(b[i])
			eucWant += d * d
			manWant += math.Abs(d)
		}
		for name, c := range map[string]struct{ got, want float64 }{
			"dot":       {float64(Dot(a, b)), dotWant},
			"dotGo":     {float64(dotGo(a, b)), dotWant},
			"euclid":    {float64(SquaredEuclid(a, b)), eucWant},
			"manhattan": {float64(Manhattan(a, b)), manWant},
		} {
			if math.Abs(c.got-c.want) > 1e-4*float64(n) {
				t.Errorf("%s of %d: got %v, want %v", name, n, c.got, c.want)
			}
		}
	}
}

func TestDotOfNothingOrUnequalIsZero(t *testing.T) {
	if got := Dot(nil, nil); got != 0 {
		t.Errorf("empty: %v", got)
	}
	if got := Dot([]float32{1}, []float32{1, 2}); got != 0 {
		t.Errorf("unequal: %v", got)
	}
}

func TestNormalize(t *testing.T) {
	got := Normalize([]float32{3, 4})
	if got[0] != 0.6 || got[1] != 0.8 {
		t.Errorf("got %v", got)
	}
	again := Normalize(got)
	if &again[0] != &got[0] {
		t.Error("a unit vector was changed")
	}
	zero := Normalize([]float32{0, 0})
	if zero[0] != 0 || zero[1] != 0 {
		t.Errorf("zero vector became %v", zero)
	}
}

func BenchmarkScan100k256(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, dim = 100_000, 256
	all, q := vector(r, n*dim), vector(r, dim)
	var sink float32
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		for i := 0; i < n; i++ {
			sink += Dot(q, all[i*dim:(i+1)*dim])
		}
		took = append(took, time.Since(began))
	}
	_ = sink
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}

func BenchmarkScanGo100k256(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, dim = 100_000, 256
	all, q := vector(r, n*dim), vector(r, dim)
	var sink float32
	for b.Loop() {
		for i := 0; i < n; i++ {
			sink += dotGo(q, all[i*dim:(i+1)*dim])
		}
	}
	_ = sink
}
