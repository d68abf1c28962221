package suites

import (
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

func TestEveryTaskPassesTheGate(t *testing.T) {
	pool := gymtest.NewPool(t, gym.Config{})
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, task := range s.Tasks {
			t.Run(s.Name+"/"+task.ID, func(t *testing.T) {
				src := gym.Source{Runtime: gym.RuntimeStarlark, Code: task.Code}
				// Well below the limit of acceptance: a task that random play nearly solves tells little of a policy.
				r, err := gate.Check(t.Context(), pool, src, gate.Options{Portable: true, RequireSolve: true, MaxRandom: 0.6})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Accepted {
					t.Errorf("%s: %s", r.Stage, r.Reason)
				}
			})
		}
	}
}
