package seed

import "math"

// Between draws n numbers from from to to, both included, without repeating any while they last. Over the whole range of 64
// bits each number is derived by its index, so that more of them begin with the same ones. It needs from <= to.
func Between(run uint64, k Key, from, to uint64, n int) []uint64 {
	drawn := make([]uint64, 0, n)
	span := to - from
	if span == math.MaxUint64 {
		for i := range n {
			k.Index = i
			drawn = append(drawn, Derive(run, k))
		}
		return drawn
	}
	random, taken := Stream(run, k), map[uint64]bool{}
	for len(drawn) < n {
		if uint64(len(taken)) > span {
			clear(taken) // all of them are used: they come again
		}
		x := from + random.upTo(span)
		if !taken[x] {
			taken[x] = true
			drawn = append(drawn, x)
		}
	}
	return drawn
}
