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

// Values that nobody holds any more leave nothing behind.
func TestValuesComeAndGo(t *testing.T) {
	f := New(Integer)
	for i := range 1000 {
		f.Set(uint32(i%3), values(t, i, i+1, i))
		f.Set(uint32(i%3), values(t, i))
		if got := f.Slots(Value{Kind: Integer, Int: int64(i - 3)}); len(got) != 0 {
			t.Fatalf("slots %v still hold %d", got, i-3)
		}
	}
	if len(f.dict) != 3 || len(f.many) != 0 || len(f.entries) > 8 {
		t.Errorf("%d values, %d lists, %d places", len(f.dict), len(f.many), len(f.entries))
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
