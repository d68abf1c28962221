package gym

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

const looseCommand = "__loose"

// TestMain makes the test binary its own worker, as the program's main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		os.Exit(Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == JailCommand {
		os.Exit(JailMain(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 3 && os.Args[1] == looseCommand {
		os.Exit(looseMain(os.Args[2], os.Args[3]))
	}
	if len(os.Args) > 2 && os.Args[1] == fakeCommand {
		os.Exit(fakeMain(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == holderCommand {
		os.Exit(holderMain())
	}
	goleak.VerifyTestMain(m)
}

// counting is the smallest environment: say "up" five times.
const counting = `
META = {"title": "Counting", "kind": "game", "max_steps": 8}

def reset(seed):
    return {"n": 0, "goal": 5}, "0 of 5", {"actions": ["up", "stay"]}

def step(state, action):
    if action == "up":
        state["n"] += 1
    done = state["n"] == state["goal"]
    return state, text.format("{} of {}", state["n"], state["goal"]), 1.0 if done else 0.0, done, False, {"actions": ["up", "stay"]}

def hint(state):
    return "say up"

def verify(state):
    return 1.0 if state["n"] == state["goal"] else 0.0

def solve(state):
    return ["up"] * (state["goal"] - state["n"])
`

func newPool(t testing.TB, cfg Config) *Pool {
	t.Helper()
	cfg.MemoryBytes = or(cfg.MemoryBytes, 64<<20) // so that those that are to run out of it do so soon
	p, err := NewPool(cfg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func open(t testing.TB, p *Pool, code string) *Worker {
	t.Helper()
	w, err := p.Open(t.Context(), Source{Runtime: RuntimeStarlark, Code: code})
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

func TestEpisode(t *testing.T) {
	w := open(t, newPool(t, Config{}), counting)
	if got := w.Meta(); got.Title != "Counting" || got.Kind != "game" || got.MaxSteps != 8 || !got.HasSolve {
		t.Fatalf("meta is %+v", got)
	}
	if w.Tier() != TierStarlark {
		t.Fatalf("tier is %q", w.Tier())
	}
	started, err := w.Reset(t.Context(), []Reset{{Episode: 3, Seed: 7, WantHint: true, WantSolve: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := started[0]
	if s.Observation != "0 of 5" || s.Info != `{"actions":["up","stay"]}` || s.Hint != "say up" || len(s.Solution) != 5 || len(s.StateHash) != 64 {
		t.Fatalf("started %+v", s)
	}
	var last Stepped
	for _, a := range s.Solution {
		got, err := w.Step(t.Context(), []Action{{Episode: 3, Text: a}})
		if err != nil {
			t.Fatal(err)
		}
		last = got[0]
	}
	if last.Outcome != Solved || last.Return != 1 || !last.Terminated || last.Truncated || last.Verify == nil || *last.Verify != 1 {
		t.Fatalf("ended %+v", last)
	}
}

func TestPlatformTruncates(t *testing.T) {
	w := open(t, newPool(t, Config{}), counting)
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 8; i++ {
		got, err := w.Step(t.Context(), []Action{{Text: "stay"}})
		if err != nil {
			t.Fatal(err)
		}
		ended := i == 8
		if got[0].Truncated != ended || got[0].Terminated || (got[0].Outcome == Failed) != ended {
			t.Fatalf("step %d: %+v", i, got[0])
		}
	}
}

// trivial does next to nothing in a step, so that what is measured is the platform.
const trivial = `
META = {"title": "Trivial", "kind": "game", "max_steps": 1000}
INFO = {"actions": ["go"]}

def reset(seed):
    return {"n": 0}, "0", INFO

def step(state, action):
    state["n"] += 1
    return state, "on", 0.0, False, False, INFO

def hint(state):
    return ""

def verify(state):
    return 0.0
`

// benchSteps plays b.N batches of steps, one step in each of so many episodes of so many workers, which work in parallel.
func benchSteps(b *testing.B, workers, episodes int) {
	p := newPool(b, Config{MaxWorkers: workers})
	b.ReportAllocs()
	var group sync.WaitGroup
	for range workers {
		w := open(b, p, trivial)
		group.Go(func() {
			resets, actions := make([]Reset, episodes), make([]Action, episodes)
			for i := range episodes {
				resets[i], actions[i] = Reset{Episode: i, Seed: uint64(i)}, Action{Episode: i, Text: "go"}
			}
			for n := range b.N {
				if n%1000 == 0 {
					if _, err := w.Reset(b.Context(), resets); err != nil {
						b.Error(err)
						return
					}
				}
				if _, err := w.Step(b.Context(), actions); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N*workers*episodes)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkSteps is steps through the limited child, as rollouts take them.
func BenchmarkSteps(b *testing.B) {
	for _, c := range []struct{ workers, episodes int }{{1, 1}, {1, 16}, {1, 64}, {2, 16}, {2, 64}} {
		b.Run(fmt.Sprintf("workers=%d/episodes=%d", c.workers, c.episodes), func(b *testing.B) {
			benchSteps(b, c.workers, c.episodes)
		})
	}
}

// BenchmarkStepsInProcess is the same steps of the same source without a process or a sandbox around them, to compare with.
func BenchmarkStepsInProcess(b *testing.B) {
	env, loaded := interp.Load(trivial, wire.DefaultLimits())
	if env == nil {
		b.Fatal(loaded)
	}
	for i := 0; b.Loop(); i++ {
		if i%999 == 0 {
			env.Reset(wire.Reset{})
		}
		if s := env.Step(wire.Action{Text: "go"}); s.Outcome != Ongoing {
			b.Fatal(s)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkOpen loads a source into a fresh worker, plays nothing and closes it.
func BenchmarkOpen(b *testing.B) {
	p := newPool(b, Config{})
	for b.Loop() {
		w, err := p.Open(b.Context(), Source{Runtime: RuntimeStarlark, Code: counting})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
