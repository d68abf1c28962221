package python_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

// trivial is the environment of the figure "python steps": the same as .ci/bench gives Gymnasium, a counter that an action
// moves.
const trivial = `
META = {"title": "Counter", "kind": "game", "max_steps": 1000}


def reset(seed):
    return {"n": 0}, "0", {}


def step(state, action):
    state["n"] += 1 if action == "1" else 0
    return state, str(state["n"]), 0.0, state["n"] >= 500, False, {}


def hint(state):
    return "Say 1."


def verify(state):
    return 0.0
`

const (
	benchWorkers  = 2
	benchEpisodes = 16
)

// BenchmarkSteps plays 16 episodes in each of two workers through the pool, everything included: the batches, the checks,
// canonical JSON and a hash for every step. One operation is one step of one episode.
func BenchmarkSteps(b *testing.B) {
	pool := gymtest.NewPool(b, gym.Config{MaxWorkers: benchWorkers, MemoryBytes: 256 << 20})
	workers := make([]*gym.Worker, benchWorkers)
	for i := range workers {
		workers[i] = open(b, pool, trivial)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var playing sync.WaitGroup
	for _, w := range workers {
		playing.Add(1)
		go func() {
			defer playing.Done()
			playOn(b, w, b.N/benchWorkers/benchEpisodes+1)
		}()
	}
	playing.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// playOn makes rounds of steps, one in each episode, and starts episodes again when they end.
func playOn(b *testing.B, w *gym.Worker, rounds int) {
	ctx := context.Background()
	resets, actions := make([]gym.Reset, benchEpisodes), make([]gym.Action, benchEpisodes)
	for i := range resets {
		resets[i], actions[i] = gym.Reset{Episode: i, Seed: uint64(i)}, gym.Action{Episode: i, Text: "1"}
	}
	if _, err := w.Reset(ctx, resets); err != nil {
		b.Error(err)
		return
	}
	for range rounds {
		stepped, err := w.Step(ctx, actions)
		if err != nil {
			b.Error(err)
			return
		}
		if stepped[0].Outcome != gym.Ongoing { // they all end together
			if _, err := w.Reset(ctx, resets); err != nil {
				b.Error(err)
				return
			}
		}
	}
}

// BenchmarkAsyncVectorEnv is Gymnasium's vectoriser on the same environment, with as many processes as suit it best. It
// needs an interpreter with Gymnasium, which .ci/bench installs and names in SPADE_TEST_BENCH_PYTHON.
func BenchmarkAsyncVectorEnv(b *testing.B) {
	interpreter := os.Getenv("SPADE_TEST_BENCH_PYTHON")
	if interpreter == "" {
		b.Skip("SPADE_TEST_BENCH_PYTHON names no interpreter with gymnasium")
	}
	best := 0.0
	for b.Loop() {
		out, err := exec.Command(interpreter, "testdata/vector.py", "1.5").Output()
		if err != nil {
			b.Fatal(err)
		}
		steps, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			b.Fatal(err)
		}
		best = max(best, steps)
	}
	b.ReportMetric(best, "steps/s")
}
