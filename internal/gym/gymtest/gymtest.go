// Package gymtest helps tests of other packages to run real environment workers.
//
// The test binary is its own worker: TestMain must call [Main].
package gymtest

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/gym"
)

// Main is what TestMain calls. In a process that was started as a worker it runs the worker and does not return; in any
// other it runs the tests and then looks for goroutines that were left behind.
func Main(m *testing.M) {
	WorkerMain()
	goleak.VerifyTestMain(m)
}

// WorkerMain runs the worker, and does not return, if this process was started as one. It is for a TestMain that does
// more than Main.
func WorkerMain() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case gym.ChildCommand:
		os.Exit(gym.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	case gym.JailCommand:
		os.Exit(gym.JailMain(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// NewPool returns a running pool that ends with the test. Where the configuration sets no memory limit its workers get
// 64 MiB, so that those that are to run out of it do so soon.
func NewPool(t testing.TB, cfg gym.Config) *gym.Pool {
	t.Helper()
	if cfg.MemoryBytes == 0 {
		cfg.MemoryBytes = 64 << 20
	}
	p, err := gym.NewPool(cfg, gym.Settings{})
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

// Counting is the smallest environment that passes the gate: count up to a number that the seed gives.
const Counting = `
META = {"title": "Counting", "kind": "game", "max_steps": 12}

ACTIONS = ["up", "down", "stay"]

def show(state):
    return text.format("The counter is at {} and should be at {}.", state["n"], state["goal"])

def reset(seed):
    state = {"n": 0, "goal": rng.randint(4, 6)}
    return state, show(state), {"actions": ACTIONS}

def step(state, action):
    if action == "up":
        state["n"] += 1
    elif action == "down":
        state["n"] -= 1
    done = state["n"] == state["goal"]
    return state, show(state), 1.0 if done else 0.0, done, False, {"actions": ACTIONS}

def hint(state):
    return text.format("Say up {} times.", state["goal"] - state["n"])

def verify(state):
    return 1.0 if state["n"] == state["goal"] else 0.0

def solve(state):
    return ["up"] * (state["goal"] - state["n"])
`
