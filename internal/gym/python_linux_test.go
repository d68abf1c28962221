package gym

import (
	"strings"
	"testing"
	"time"
)

// countingPython is counting in Python.
const countingPython = `
META = {"title": "Counting", "kind": "game", "max_steps": 8}

def reset(seed):
    return {"n": 0, "goal": 5}, "0 of 5", {"actions": ["up", "stay"]}

def step(state, action):
    if action == "up":
        state["n"] += 1
    done = state["n"] == state["goal"]
    return state, str(state["n"]) + " of " + str(state["goal"]), 1.0 if done else 0.0, done, False, {"actions": ["up", "stay"]}

def hint(state):
    return "say up"

def verify(state):
    return 1.0 if state["n"] == state["goal"] else 0.0

def solve(state):
    return ["up"] * (state["goal"] - state["n"])
`

func openPython(t testing.TB, p *Pool, code string) *Worker {
	t.Helper()
	w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: code})
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

func TestPythonTiers(t *testing.T) {
	for _, tier := range []string{SandboxFull, SandboxLimits, SandboxNone} {
		p := newPool(t, Config{Sandbox: tier})
		began := time.Now()
		w := openPython(t, p, countingPython)
		t.Logf("%s: first open after %v", w.Tier(), time.Since(began))
		want := tier
		if tier == SandboxFull {
			want = TierPython
		}
		if !strings.HasPrefix(w.Tier(), want) {
			t.Errorf("tier is %q", w.Tier())
		}
		if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
			t.Fatal(err)
		}
		got, err := w.Step(t.Context(), []Action{{Text: "up"}})
		if err != nil || got[0].Observation != "1 of 5" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}
