package rebuild

import (
	"testing"

	"github.com/google/uuid"
)

// What was added is found, and of what was not, little is.
func TestFilter(t *testing.T) {
	const n = 200_000
	f := newFilter(n)
	made := make([]uuid.UUID, 2*n)
	for i := range made {
		made[i] = uuid.NewSHA1(uuid.NameSpaceOID, []byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	for _, v := range made[:n] {
		f.add(idOf(v, 3))
	}
	vain := 0
	for i, v := range made {
		has := f.has(idOf(v, 3))
		if i < n && !has {
			t.Fatalf("%s is lost", v)
		}
		if i >= n && has {
			vain++
		}
	}
	if vain > n/200 {
		t.Errorf("%d of %d were found that had not been added", vain, n)
	}
	other := 0
	for _, v := range made[:n] {
		if f.has(idOf(v, 4)) {
			other++
		}
	}
	if other > n/200 {
		t.Errorf("%d of %d were found in another partition", other, n)
	}
}
