package embedding

import (
	"math"
	"math/bits"
)

// bag counts weighted features. A feature is any string; its count enters by
// its magnitude (1, 2-3, 4-7, … times count as 1, 2, 3, …), so that a construct
// repeated a hundred times does not drown the rest.
type bag struct {
	counts  map[string]uint
	weights map[string]int64
}

func newBag() *bag { return &bag{counts: map[string]uint{}, weights: map[string]int64{}} }

func (b *bag) add(feature string, weight int64) {
	b.counts[feature]++
	b.weights[feature] = weight
}

// hash folds the features into dim signed sums. They are integers, so the order
// of the map does not matter.
func (b *bag) hash(dim int) []int64 {
	out := make([]int64, dim)
	for feature, n := range b.counts {
		h := hash64(feature)
		value := b.weights[feature] * int64(bits.Len(n))
		if h>>63 == 1 {
			value = -value
		}
		out[h%uint64(dim)] += value
	}
	return out
}

// hash64 is FNV-1a with a final mix, which FNV needs for its high bits.
func hash64(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// part is a stretch of a vector and its share of a similarity, in hundredths.
type part struct {
	sums  []int64
	share int64
}

// join scales each part to its share and puts them one after the other. A part
// without features leaves its share to the others; without any the vector is
// zero.
func join(parts ...part) []float32 {
	var total int64
	for _, p := range parts {
		if square(p.sums) > 0 {
			total += p.share
		}
	}
	var out []float32
	for _, p := range parts {
		scale := 0.0
		if sq := square(p.sums); sq > 0 && total > 0 {
			scale = math.Sqrt(float64(p.share) / float64(total) / float64(sq))
		}
		for _, x := range p.sums {
			out = append(out, float32(float64(x)*scale))
		}
	}
	return out
}

func square(sums []int64) int64 {
	var sq int64
	for _, x := range sums {
		sq += x * x
	}
	return sq
}
