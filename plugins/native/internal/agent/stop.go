package agent

import "strings"

// stopWords are the commonest English words. Two lines that share one have nothing to do with each other.
func stopWords() map[uint32]bool {
	out := map[uint32]bool{}
	for _, w := range strings.Fields(`the a an and or of to in on at by as is are was were be been it its this that these those for with from
		has have had not no than then so but if into over under out up down when which who what their his her they them there can may will`) {
		out[hashText(w)] = true
	}
	return out
}
