package metric

import "math"

// SketchWidth is what the length of a sketch's codes is a multiple of.
const SketchWidth = 32

// Sketch is a vector rounded to bytes, and how far that can be off. It is a quarter of the vector's size, so that a scan
// can pass over most candidates after reading a quarter of the memory.
type Sketch struct {
	Scale float32 // the vector is about Scale times its codes
	Err   float32 // the length of what the codes miss, at most
	Norm  float32 // the length of the vector, at most
}

// HasSketches reports whether comparing sketches is faster here than comparing vectors.
func HasSketches() bool { return haveSketches() }

// SketchBytes is the length of the codes of a vector of dim floats.
func SketchBytes(dim int) int { return (dim + SketchWidth - 1) / SketchWidth * SketchWidth }

// above rounds a bound up to float32, well over what the sums behind it can have lost.
func above(x float64) float32 { return float32(x * (1 + 1e-6)) }

// NewSketch writes the codes of v, whose elements are finite, and returns the rest of its sketch. len(codes) is
// SketchBytes(len(v)).
func NewSketch(codes []int8, v []float32) Sketch {
	clear(codes)
	var largest float32
	for _, x := range v {
		largest = max(largest, abs(x))
	}
	scale := largest / math.MaxInt8
	var missed, norm float64
	for i, x := range v {
		if scale > 0 {
			codes[i] = int8(max(-math.MaxInt8, min(math.MaxInt8, math.RoundToEven(float64(x)/float64(scale)))))
		}
		d := float64(x) - float64(scale)*float64(codes[i])
		missed += d * d
		norm += float64(x) * float64(x)
	}
	return Sketch{Scale: scale, Err: above(math.Sqrt(missed)), Norm: above(math.Sqrt(norm))}
}

// MaxDot is at least what Dot returns for the two vectors of n floats that the sketches stand for, as long as neither is
// longer than one, give or take.
//
// With a = a' + e and b = b' + f, where a' and b' are what the codes stand for, a·b = a'·b' + a'·f + e·b, and the last two
// are bounded by the lengths. Dot itself rounds at every element.
func MaxDot(a, b Sketch, aCodes, bCodes []int8, n int) float32 {
	exact := float64(a.Scale) * float64(b.Scale) * float64(dotBytes(aCodes, bCodes))
	lost := (float64(a.Norm)+float64(a.Err))*float64(b.Err) + float64(a.Err)*float64(b.Norm)
	rounded := float64(n+8) * 0x1p-23 * float64(a.Norm) * float64(b.Norm)
	// The last term is for vectors so short that their products are subnormal, and for the rounding of this very sum.
	return float32(exact + lost + rounded + 1e-7)
}

// dotBytesGo is the portable kernel.
func dotBytesGo(a, b []int8) int32 {
	b = b[:len(a)]
	var sum int32
	for i := range a {
		sum += int32(a[i]) * int32(b[i])
	}
	return sum
}
