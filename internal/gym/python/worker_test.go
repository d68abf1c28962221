package python_test

import (
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

func TestSmoke(t *testing.T) {
	pool := gymtest.NewPool(t, gym.Config{MemoryBytes: 128 << 20})
	w := open(t, pool, gymtest.Counting)
	t.Logf("%+v", w.Meta())
	s, err := w.Reset(t.Context(), []gym.Reset{{Episode: 0, Seed: 5, WantHint: true, WantSolve: true}})
	t.Logf("%+v %v", s, err)
	for _, a := range s[0].Solution {
		r, err := w.Step(t.Context(), []gym.Action{{Episode: 0, Text: a}})
		t.Logf("%+v %v", r, err)
	}
}
