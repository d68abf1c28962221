package seed

import (
	"math"
	"slices"
	"testing"
)

func TestBetween(t *testing.T) {
	k := Key{Purpose: "test"}
	all := Between(1, k, 10, 14, 12)
	for round := range 2 {
		got := slices.Sorted(slices.Values(all[5*round : 5*round+5]))
		if !slices.Equal(got, []uint64{10, 11, 12, 13, 14}) {
			t.Errorf("round %d drew %v", round, all)
		}
	}
	if !slices.Equal(all, Between(1, k, 10, 14, 12)) || slices.Equal(all[:5], Between(2, k, 10, 14, 5)) {
		t.Error("the draw does not follow the run's seed")
	}
	if got := Between(1, k, 7, 7, 3); !slices.Equal(got, []uint64{7, 7, 7}) {
		t.Errorf("of one number drew %v", got)
	}
	if got := Between(1, k, math.MaxUint64-1, math.MaxUint64, 2); min(got[0], got[1]) != math.MaxUint64-1 || max(got[0], got[1]) != math.MaxUint64 {
		t.Errorf("at the end of the range drew %v", got)
	}
	whole := Between(1, k, 0, math.MaxUint64, 3)
	for i, x := range whole {
		k.Index = i
		if x != Derive(1, k) {
			t.Errorf("number %d of the whole range is not the derived one", i)
		}
	}
}
