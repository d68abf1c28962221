package rebuild

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/google/uuid"
)

// filter remembers ids in a fixed amount of memory: one that was added is always found, another one seldom. It is a Bloom filter
// whose bits of one id lie in one line of the processor's cache. It may be used concurrently.
type filter struct {
	words []uint64 // eight to a line
	shift uint     // of a mixed id that leaves the number of its line
}

const (
	lineWords = 8
	// bitsPerID leaves about one id of a thousand to be looked up in vain.
	bitsPerID = 16
	// A log of up to 16 million records takes as much as one of a quarter of a million, so that what a rebuild needs is known before it
	// is long; beyond maxFilter more ids are looked up in vain.
	smallFilter = 512 << 10
	usualFilter = 32 << 20
	maxFilter   = 256 << 20
)

// newFilter makes a filter for about n ids.
func newFilter(n int64) *filter {
	size := uint64(smallFilter) //nolint:gosec // sizes are positive
	if need := n * bitsPerID / 8; need > smallFilter {
		size = uint64(min(max(need, usualFilter), maxFilter)) //nolint:gosec // the same
	}
	exponent := bits.Len64(size/(8*lineWords) - 1)
	return &filter{words: make([]uint64, lineWords<<exponent), shift: uint(64 - exponent)}
}

// id is an event's id in a partition: there its first record wins.
type id struct{ hi, lo uint64 }

// mixer spreads what differs over all bits.
const mixer = 0x9e3779b97f4a7c15

// idOf mixes the lane into an id, whose bytes are random already, all but those of its version.
func idOf(event uuid.UUID, lane uint64) id {
	return id{(binary.BigEndian.Uint64(event[:8]) + lane) * mixer, binary.BigEndian.Uint64(event[8:])}
}

// has reports whether the id may have been added.
func (f *filter) has(v id) bool {
	line := f.line(v)
	for i := range lineWords {
		if atomic.LoadUint64(&line[i])&mask(v, i) == 0 {
			return false
		}
	}
	return true
}

func (f *filter) add(v id) {
	line := f.line(v)
	for i := range lineWords {
		if m := mask(v, i); atomic.LoadUint64(&line[i])&m == 0 {
			atomic.OrUint64(&line[i], m)
		}
	}
}

func (f *filter) line(v id) []uint64 {
	at := v.hi >> f.shift * lineWords
	return f.words[at : at+lineWords]
}

// mask is the id's bit in a word: six bits of its lower half say which.
func mask(v id, word int) uint64 { return 1 << (v.lo >> (6 * word) & 63) }
