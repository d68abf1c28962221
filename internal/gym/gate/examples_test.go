package gate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

// Every hand-written example passes every stage, on more seeds than the gate plays by itself.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../../examples/environments/*.star")
	if err != nil || len(files) < 4 {
		t.Fatalf("examples %v, %v", files, err)
	}
	p := gymtest.NewPool(t, gym.Config{})
	kinds := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			opts := gate.Options{RequireSolve: true, Portable: true}
			for seed := range uint64(40) {
				opts.Seeds = append(opts.Seeds, seed)
			}
			r := check(t, p, string(code), opts)
			if !r.Accepted {
				t.Fatalf("refused at %s: %s", r.Stage, r.Reason)
			}
			kinds[r.Meta.Kind] = true
			t.Logf("%+v", r.Stats)
		})
	}
	for _, kind := range []string{"reasoning", "tools", "game"} {
		if !kinds[kind] {
			t.Errorf("no example of kind %s", kind)
		}
	}
}
