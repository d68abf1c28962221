package vector

import "math"

// Cosine is the similarity of two vectors as decisions are taken on it: summed
// in float64 in index order, rounded to 1e-6. A zero vector is similar to
// nothing. The conversions keep the compiler from fusing a multiplication with
// an addition, which some processors round differently.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += float64(x * y)
		aa += float64(x * x)
		bb += float64(y * y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	cos := float64(dot / float64(math.Sqrt(aa)*math.Sqrt(bb)))
	return max(-1, min(1, math.Round(float64(cos*1e6))/1e6))
}

// Normalize scales v to length one; a zero vector stays.
func Normalize(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	out := make([]float32, len(v))
	if sum == 0 {
		return out
	}
	norm := math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out
}
