package learnbench

import (
	"math"
	"testing"

	"github.com/seed256f7767/spade/examples/suites"
	"github.com/seed256f7767/spade/internal/seed"
)

// outcome of a policy on one environment, over several seeds.
type outcome struct{ mean, solved float64 }

func playWith(t *testing.T, env *Env, n int, next func(ep *Episode, r *seed.Rand) string) outcome {
	t.Helper()
	var o outcome
	for i := range n {
		ep, err := env.Reset(uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		r := seed.FromEnvSeed(uint64(1000 + i))
		for !ep.Done {
			if len(ep.Actions) == 0 {
				t.Fatalf("%s: no legal action before the end", env.Meta.Title)
			}
			if err := ep.Step(next(ep, r)); err != nil {
				t.Fatal(err)
			}
		}
		v := ep.Verify
		if math.Abs(v-ep.Return) > 1e-6 || v < 0 || v > 1 {
			t.Fatalf("%s seed %d: return %v, verify %v", env.Meta.Title, i, ep.Return, v)
		}
		o.mean += v / float64(n)
		if v > 0.999 {
			o.solved += 1 / float64(n)
		}
	}
	return o
}

func TestSuiteTasksAreSoundAndNotTrivial(t *testing.T) {
	all, err := suites.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, task := range s.Tasks {
			t.Run(s.Name+"/"+task.ID, func(t *testing.T) {
				env, err := Load(task.Code)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 10 {
					ep, err := env.Reset(uint64(i))
					if err != nil {
						t.Fatal(err)
					}
					for _, a := range ep.Solution {
						if err := ep.Step(a); err != nil {
							t.Fatal(err)
						}
					}
					if ep.Verify < 1-1e-9 || !ep.Done || math.Abs(ep.Return-ep.Verify) > 1e-6 || ep.Hint == "" {
						t.Fatalf("seed %d: solution %q scores %v, done %v", i, ep.Solution, ep.Verify, ep.Done)
					}
				}
				random := playWith(t, env, 60, func(ep *Episode, r *seed.Rand) string { return ep.Actions[r.IntN(len(ep.Actions))] })
				first := playWith(t, env, 20, func(ep *Episode, _ *seed.Rand) string { return ep.Actions[0] })
				t.Logf("random %.2f (solved %.2f), first action %.2f", random.mean, random.solved, first.mean)
				if random.mean > 0.5 || random.solved > 0.25 {
					t.Errorf("random play already earns %.2f and solves %.2f", random.mean, random.solved)
				}
			})
		}
	}
}
