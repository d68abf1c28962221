package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
)

func values(t *testing.T, in ...any) []*pb.Value {
	t.Helper()
	out := make([]*pb.Value, len(in))
	for i, x := range in {
		v, err := pb.NewValue(x)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

func TestFieldAgainstAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := New(Keyword)
	model := map[uint32][]string{}
	words := []string{"a", "b", "c", "d", "e"}
	for range 20_000 {
		slot := uint32(r.IntN(60))
		if r.IntN(4) == 0 {
			f.Remove(slot)
			delete(model, slot)
			continue
		}
		var hold []string
		var in []any
		for range r.IntN(4) {
			w := words[r.IntN(len(words))]
			hold, in = append(hold, w), append(in, w)
		}
		f.Set(slot, values(t, in...))
		model[slot] = hold
	}
	held := 0
	for slot := range uint32(60) {
		if len(model[slot]) > 0 {
			held++
		}
		for _, w := range words {
			got := f.Any(slot, func(v Value) bool { return v.Str == w })
			if got != slices.Contains(model[slot], w) {
				t.Errorf("slot %d word %s: %v, model %v", slot, w, got, model[slot])
			}
		}
	}
	if f.Points() != held {
		t.Errorf("%d points, want %d", f.Points(), held)
	}
	for _, w := range words {
		var want []uint32
		for slot := range uint32(60) {
			if slices.Contains(model[slot], w) {
				want = append(want, slot)
			}
		}
		if got := f.Slots(Value{Kind: Keyword, Str: w}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", w, got, want)
		}
	}
}

func TestValuesOfAnotherKindMakeItIncomplete(t *testing.T) {
	f := New(Integer)
	f.Set(1, values(t, 5))
	if !f.Complete() {
		t.Fatal("incomplete with integers only")
	}
	f.Set(2, values(t, 2.5))
	if f.Complete() {
		t.Fatal("complete with a fraction under the key")
	}
	f.Set(2, values(t, 6))
	if !f.Complete() {
		t.Fatal("still incomplete")
	}
}
