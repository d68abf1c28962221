package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDotBytesKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := SketchWidth; n <= 20*SketchWidth; n += SketchWidth {
		a, b := make([]int8, n), make([]int8, n)
		for i := range a {
			a[i], b[i] = int8(r.IntN(255)-127), int8(r.IntN(255)-127)
		}
		if got, want := dotBytes(a, b), dotBytesGo(a, b); got != want {
			t.Errorf("%d bytes: %d, want %d", n, got, want)
		}
	}
	// The largest sums that the largest vector can have.
	a, b := make([]int8, 1<<16), make([]int8, 1<<16)
	for i := range a {
		a[i], b[i] = 127, -127
	}
	if got, want := dotBytes(a, b), int32(-127*127<<16); got != want {
		t.Errorf("extremes: %d, want %d", got, want)
	}
}

// kinds of vectors: how an element is drawn.
var drawn = map[string]func(*rand.Rand) float32{
	"normal":  func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
	"sparse":  func(r *rand.Rand) float32 { return float32(r.IntN(10)/9) * float32(r.NormFloat64()) },
	"spiky":   func(r *rand.Rand) float32 { return float32(math.Pow(r.NormFloat64(), 7)) },
	"one way": func(r *rand.Rand) float32 { return r.Float32() },
	"alike":   func(*rand.Rand) float32 { return 0.25 },
	"tiny":    func(r *rand.Rand) float32 { return float32(r.NormFloat64()) * 1e-22 },
	"zero":    func(*rand.Rand) float32 { return 0 },
}

// No pair of vectors scores more than its sketches allow, and of usual ones not much less.
func TestMaxDotIsABound(t *testing.T) {
	for name, draw := range drawn {
		r := rand.New(rand.NewPCG(3, 4))
		for range 3000 {
			dim := 1 + r.IntN(400)
			a, b := make([]float32, dim), make([]float32, dim)
			for i := range a {
				a[i], b[i] = draw(r), draw(r)
			}
			if r.IntN(3) == 0 {
				copy(b, a) // the largest product there is
			}
			a, b = Normalize(a), Normalize(b)
			ca, cb := make([]int8, SketchBytes(dim)), make([]int8, SketchBytes(dim))
			sa, sb := NewSketch(ca, a), NewSketch(cb, b)
			bound, got := MaxDot(sa, sb, ca, cb, dim), Dot(a, b)
			if !(got <= bound) {
				t.Fatalf("%s of %d: Dot is %v, over the bound %v", name, dim, got, bound)
			}
			if name == "normal" && float64(bound-got) > 0.06 {
				t.Fatalf("%s of %d: the bound %v says nothing about %v", name, dim, bound, got)
			}
		}
	}
}

func BenchmarkScanSketches100k256(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, dim = 100_000, 256
	codes, query := make([]int8, n*dim), make([]int8, dim)
	sketches := make([]Sketch, n)
	for i := range sketches {
		sketches[i] = NewSketch(codes[i*dim:(i+1)*dim], vector(r, dim))
	}
	q := NewSketch(query, vector(r, dim))
	var sink float32
	for b.Loop() {
		for i := range sketches {
			sink += MaxDot(q, sketches[i], query, codes[i*dim:(i+1)*dim], dim)
		}
	}
	_ = sink
}
