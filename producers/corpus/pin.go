package corpus

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/google/uuid"
)

// Pin names a set of documents: the SHA-256 over its ids, 16 bytes each in ascending order, their number and the ids in
// that order. The order of the argument and repeated ids make no difference; the argument is left as it is.
func Pin(ids []uuid.UUID) (digest [sha256.Size]byte, count int, sorted []uuid.UUID) {
	sorted = slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	sorted = slices.Compact(sorted)
	h := sha256.New()
	for _, id := range sorted {
		h.Write(id[:])
	}
	return [sha256.Size]byte(h.Sum(nil)), len(sorted), sorted
}
