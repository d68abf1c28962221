package seed

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"
)

type vector struct {
	Run     string `json:"run"`
	Seed    string `json:"seed"`
	Derived string `json:"derived"`
	Key     struct {
		Purpose                         string
		Iteration, Slot, Attempt, Index int
		Arm                             string
	} `json:"key"`
	Uint64  []string  `json:"uint64"`
	Random  []float64 `json:"random"`
	RandInt []struct {
		Lo, Hi, Value string
	} `json:"randint"`
	Choice   []string `json:"choice"`
	Shuffled []int    `json:"shuffled"`
	Sample   []int    `json:"sample"`
	Draws    uint64   `json:"draws"`
}

func parse(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func parseInt(t *testing.T, s string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func ints(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func exercise(t *testing.T, r *Rand, v vector) {
	t.Helper()
	for i, want := range v.Uint64 {
		if got := r.Uint64(); got != parse(t, want) {
			t.Fatalf("word %d: got %d, want %s", i, got, want)
		}
	}
	for i, want := range v.Random {
		if got := r.Float64(); got != want {
			t.Fatalf("random %d: got %v, want %v", i, got, want)
		}
	}
	for i, c := range v.RandInt {
		if got := r.RandInt(parseInt(t, c.Lo), parseInt(t, c.Hi)); got != parseInt(t, c.Value) {
			t.Fatalf("randint %d: got %d, want %s", i, got, c.Value)
		}
	}
	for i, want := range v.Choice {
		if got := []string{"a", "b", "c"}[r.IntN(3)]; got != want {
			t.Fatalf("choice %d: got %s, want %s", i, got, want)
		}
	}
	if got := r.Perm(10); !slices.Equal(got, v.Shuffled) {
		t.Fatalf("shuffled: got %v, want %v", got, v.Shuffled)
	}
	if got := Sample(r, ints(20), 5); !slices.Equal(got, v.Sample) {
		t.Fatalf("sample: got %v, want %v", got, v.Sample)
	}
	if r.Draws() != v.Draws {
		t.Fatalf("draws: got %d, want %d", r.Draws(), v.Draws)
	}
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("../../schemas/vectors/rng.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Streams      []vector `json:"streams"`
		Environments []vector `json:"environments"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Streams) < 5 || len(file.Environments) < 5 {
		t.Fatalf("too few vectors: %d streams, %d environments", len(file.Streams), len(file.Environments))
	}
	for _, v := range file.Streams {
		k := Key{
			Purpose: v.Key.Purpose, Iteration: v.Key.Iteration, Slot: v.Key.Slot, Attempt: v.Key.Attempt,
			Arm: v.Key.Arm, Index: v.Key.Index,
		}
		if got := Derive(parse(t, v.Run), k); got != parse(t, v.Derived) {
			t.Fatalf("derive %+v: got %d, want %s", k, got, v.Derived)
		}
		exercise(t, Stream(parse(t, v.Run), k), v)
	}
	for _, v := range file.Environments {
		exercise(t, FromEnvSeed(parse(t, v.Seed)), v)
	}
}

// No field may be able to take the place of another: each change of a single field gives another stream.
func TestKeysDoNotCollide(t *testing.T) {
	keys := []Key{
		{},
		{Purpose: "a"},
		{Arm: "a"},
		{Iteration: 1},
		{Slot: 1},
		{Attempt: 1},
		{Index: 1},
		{Index: -1},
		{Purpose: "ab", Arm: "c"},
		{Purpose: "a", Arm: "bc"},
	}
	seen := map[uint64]Key{}
	for _, run := range []uint64{0, 1} {
		for _, k := range keys {
			d := Derive(run, k)
			if other, dup := seen[d]; dup {
				t.Fatalf("%+v and %+v share the seed %d", k, other, d)
			}
			seen[d] = k
		}
	}
}

func TestRandInt(t *testing.T) {
	r := FromEnvSeed(3)
	counts := map[int64]int{}
	for range 6000 {
		counts[r.RandInt(1, 6)]++
	}
	for face := int64(1); face <= 6; face++ {
		if counts[face] < 850 || counts[face] > 1150 {
			t.Fatalf("face %d came %d times in 6000", face, counts[face])
		}
	}
	if len(counts) != 6 {
		t.Fatalf("values outside the range: %v", counts)
	}
}

func TestNoDrawWithoutChoice(t *testing.T) {
	r := FromEnvSeed(1)
	r.RandInt(5, 5)
	r.RandInt(2, 1)
	r.IntN(1)
	r.Perm(1)
	Sample(r, []int{1}, 1)
	Sample(r, []int{}, 4)
	if r.Draws() != 0 {
		t.Fatalf("%d draws where there is nothing to choose", r.Draws())
	}
}

func BenchmarkUint64(b *testing.B) {
	r := FromEnvSeed(1)
	for b.Loop() {
		r.Uint64()
	}
}
