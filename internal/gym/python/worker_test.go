package python_test

import (
	"reflect"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func open(t testing.TB, pool *gym.Pool, code string) *gym.Worker {
	t.Helper()
	w, err := pool.Open(t.Context(), gym.Source{Runtime: gym.RuntimePython, Code: code})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// Through the pool, in batches, both runtimes answer alike.
func TestThroughThePool(t *testing.T) {
	pool := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20, MaxWorkers: 2})
	const episodes = 40
	resets, actions := make([]gym.Reset, episodes), make([]gym.Action, episodes)
	for i := range episodes {
		resets[i] = gym.Reset{Episode: i, Seed: uint64(i), WantHint: true, WantSolve: true}
		actions[i] = gym.Action{Episode: i, Text: "up"}
	}
	var started [2][]gym.Started
	var stepped [2][]gym.Stepped
	for i, runtime := range []string{gym.RuntimeStarlark, gym.RuntimePython} {
		w, err := pool.Open(t.Context(), gym.Source{Runtime: runtime, Code: gymtest.Counting})
		if err != nil {
			t.Fatal(err)
		}
		if started[i], err = w.Reset(t.Context(), resets); err != nil {
			t.Fatal(err)
		}
		for range 4 { // the nearest goal
			got, err := w.Step(t.Context(), actions)
			if err != nil {
				t.Fatal(err)
			}
			stepped[i] = append(stepped[i], got...)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(started[0], started[1]) || !reflect.DeepEqual(stepped[0], stepped[1]) {
		t.Error("the runtimes differ")
	}
	solved := 0
	for _, s := range stepped[1] {
		if s.Outcome == gym.Solved {
			solved++
		}
	}
	if solved == 0 || solved == episodes {
		t.Errorf("%d of %d are solved", solved, episodes)
	}
}
