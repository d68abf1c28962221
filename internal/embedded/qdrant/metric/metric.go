package metric

import "math"

// Dot returns the inner product of a and b, which have the same length.
func Dot(a, b []float32) float32 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	return dot(a, b)
}

// SquaredEuclid returns the squared Euclidean distance of a and b, which have
// the same length.
func SquaredEuclid(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		d0, d1, d2, d3 := a[i]-b[i], a[i+1]-b[i+1], a[i+2]-b[i+2], a[i+3]-b[i+3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s0 += d * d
	}
	return s0 + s1 + s2 + s3
}

// Manhattan returns the sum of absolute differences of a and b, which have the
// same length.
func Manhattan(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1 float32
	i := 0
	for ; i+2 <= len(a); i += 2 {
		s0 += abs(a[i] - b[i])
		s1 += abs(a[i+1] - b[i+1])
	}
	for ; i < len(a); i++ {
		s0 += abs(a[i] - b[i])
	}
	return s0 + s1
}

// Normalize returns v scaled to length one. A zero vector, and one that has
// length one already to float32 precision, comes back unchanged, as Qdrant does
// it: a vector that a client normalised is stored bit for bit.
func Normalize(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum < math.SmallestNonzeroFloat32 || math.Abs(sum-1) < 1e-6 {
		return v
	}
	out := make([]float32, len(v))
	norm := math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out
}

func abs(x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
}

// dotGo is the portable kernel. Eight sums keep the adder busy: one sum would
// wait for its own latency at every element.
func dotGo(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
}
