package gym

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/sandbox"
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

// Whatever the caller keeps from others, a worker that is nobody finds its way through its own root.
func TestPythonUnderAnyUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	if got, _ := stepPython(t, newPool(t, Config{}), countingPython); got.Observation != "1 of 5" {
		t.Errorf("got %+v", got)
	}
}

func TestTierNames(t *testing.T) {
	const python, starlark = RuntimePython, RuntimeStarlark
	for _, tt := range []struct {
		runtime, setting string
		have             sandbox.Layer
		want             string
	}{
		{python, SandboxFull, sandbox.Cgroup | sandbox.Landlock, "python-1"},
		{python, SandboxFull, sandbox.Landlock, "python-1-no-cgroup"},
		{python, SandboxFull, sandbox.Cgroup, "python-1-no-landlock"},
		{python, SandboxFull, 0, "python-1-no-cgroup-no-landlock"},
		{python, SandboxLimits, 0, "limits"},
		{python, SandboxNone, sandbox.Cgroup, "none"},
		{starlark, SandboxFull, sandbox.Landlock, "starlark-1"},
		{starlark, SandboxFull, 0, "starlark-1-no-landlock"},
		{starlark, SandboxLimits, sandbox.Landlock, "limits"},
		{starlark, SandboxNone, 0, "none"},
	} {
		if got := tierName(tt.runtime, tt.setting, tt.have); got != tt.want {
			t.Errorf("%s, %s with %s: %q", tt.runtime, tt.setting, tt.have, got)
		}
	}
}
