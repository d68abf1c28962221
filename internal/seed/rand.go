package seed

import "math/bits"

// Rand is a random stream. It is not safe for concurrent use: a stream belongs to one unit of work.
type Rand struct {
	pcg   pcg64
	draws uint64
}

// Uint64 returns the next 64 bits. Every other method takes its randomness from here.
func (r *Rand) Uint64() uint64 {
	r.draws++
	return r.pcg.next()
}

// Draws returns how many 64-bit words have been taken. Together with the seed it is the whole state of the stream.
func (r *Rand) Draws() uint64 { return r.draws }

// Float64 returns a number in [0, 1) with 53 random bits: (word >> 11) × 2⁻⁵³.
func (r *Rand) Float64() float64 {
	return float64(r.Uint64()>>11) * (1.0 / (1 << 53))
}

// upTo returns a number in [0, n], n included. It keeps the lowest bits that n needs and draws again while the value
// is above n; for n = 0 it draws nothing.
func (r *Rand) upTo(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	mask := ^uint64(0) >> bits.LeadingZeros64(n)
	for {
		if v := r.Uint64() & mask; v <= n {
			return v
		}
	}
}

// RandInt returns an integer in [lo, hi], both included, by rejection. With lo above hi there is nothing to choose: it
// returns lo and draws nothing.
func (r *Rand) RandInt(lo, hi int64) int64 {
	if lo >= hi {
		return lo
	}
	return int64(uint64(lo) + r.upTo(uint64(hi)-uint64(lo)))
}

// IntN returns an integer in [0, n); for n below 2 it is 0 and draws nothing.
func (r *Rand) IntN(n int) int {
	if n < 2 {
		return 0
	}
	return int(r.upTo(uint64(n - 1)))
}

// Perm returns the numbers 0 … n-1 in random order, in the order that [Shuffle] gives.
func (r *Rand) Perm(n int) []int {
	p := make([]int, max(n, 0))
	for i := range p {
		p[i] = i
	}
	Shuffle(r, p)
	return p
}

// Shuffle permutes s in place by Fisher and Yates: for i from the last index down to 1, swap i with a number in [0, i].
func Shuffle[T any](r *Rand, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.upTo(uint64(i))
		s[i], s[j] = s[j], s[i]
	}
}

// Sample moves k different elements of s to its front, in random order, and returns them: for i from 0 to k-1, swap i
// with a number in [i, len(s)-1]. A k outside [0, len(s)] is clamped.
func Sample[T any](r *Rand, s []T, k int) []T {
	k = min(max(k, 0), len(s))
	for i := range k {
		j := i + int(r.upTo(uint64(len(s)-1-i)))
		s[i], s[j] = s[j], s[i]
	}
	return s[:k]
}
