package python_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// class is a source in the class form: a walk to a random place.
const class = `
import random


class Walk:
    META = {"title": "Walk", "kind": "game", "max_steps": 6}

    def __init__(self):
        self.at = 0
        self.seen = []

    def reset(self, seed):
        self.goal = self.rng.randint(2, 3)
        return "at 0", {"actions": ["go"]}

    def step(self, action):
        self.at += action == "go"
        self.seen.append((self.at, action))
        done = self.at == self.goal
        return "at %d" % self.at, float(done), done, False, {"actions": ["go"]}

    def hint(self):
        return "go %d times" % self.goal

    def verify(self):
        return float(self.at == self.goal)

    def solve(self):
        return ["go"] * self.goal


Env = Walk
`

// change replaces a piece of the class.
func change(t testing.TB, old, with string) string {
	t.Helper()
	if !strings.Contains(class, old) {
		t.Fatalf("%q is not in the source", old)
	}
	return strings.Replace(class, old, with, 1)
}

// solve plays the solution that a source brings, or go, to the end.
func solve(t testing.TB, driver *pythontest.Driver, code string) (wire.Started, wire.Stepped) {
	t.Helper()
	if loaded := driver.Load(code, wire.DefaultLimits()); loaded.Stage != "" {
		t.Fatalf("%+v", loaded)
	}
	started := driver.Reset(wire.Reset{Seed: 4, WantHint: true, WantSolve: true})
	if started.Outcome != wire.Ongoing {
		return started, wire.Stepped{Fault: started.Fault}
	}
	for {
		stepped := driver.Step(wire.Action{Text: "go"})
		if stepped.Outcome != wire.Ongoing {
			return started, stepped
		}
	}
}

func TestClassForm(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	started, stepped := solve(t, driver, class)
	if started.Observation != "at 0" || started.Info != `{"actions":["go"]}` || !strings.HasPrefix(started.Hint, "go ") || len(started.Solution) < 2 {
		t.Errorf("%+v", started)
	}
	if stepped.Outcome != wire.Solved || *stepped.Verify != 1 || stepped.Return != 1 || !stepped.Terminated {
		t.Errorf("%+v", stepped)
	}
	// The same episode again, beside another one, has the same states.
	driver.Reset(wire.Reset{Episode: 2, Seed: 5})
	again, end := solve(t, driver, class)
	if again.StateHash != started.StateHash || end.StateHash != stepped.StateHash || again.StateHash == end.StateHash {
		t.Errorf("states %s and %s, then %s and %s", started.StateHash, stepped.StateHash, again.StateHash, end.StateHash)
	}
}

func TestClassFaults(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	const attribute = "        self.at += action"
	tests := []struct {
		name, code string
		outcome    wire.Outcome
		cause      wire.Cause
		text       string
	}{
		{"attribute that is a set", change(t, "self.seen = []", "self.seen = set()"), wire.EnvError, wire.CauseShape, "the attribute seen is not a JSON value: a set; keep"},
		{"attribute with numbers as keys", change(t, attribute, "        self.x = {'a': {1: 2}}\n"+attribute), wire.EnvError, wire.CauseShape, "the attribute x is"},
		{"generator kept elsewhere", change(t, attribute, "        self.x = self.rng\n"+attribute), wire.EnvError, wire.CauseShape, "the attribute x is not a JSON value: a Rng"},
		{"state of its own", change(t, attribute, "        self.x = {1}\n"+attribute) + "Walk.state = lambda self: [self.at]\n", wire.Solved, "", ""},
		{"state that is no JSON", class + "Walk.state = lambda self: {1}\n", wire.EnvError, wire.CauseShape, "the state of reset: not a JSON value: a set"},
		{"state that fails", class + "Walk.state = lambda self: 1 // 0\n", wire.EnvError, wire.CauseException, "in <lambda>"},
		{"attribute named state", change(t, attribute, "        self.state = 'x'\n"+attribute), wire.Solved, "", ""},
		{"no hint", change(t, "def hint", "def hunt"), wire.Solved, "", ""},
		{"no solution", change(t, "def solve", "def slove"), wire.Solved, "", ""},
		{"no verification", change(t, "def verify", "def verily"), wire.VerifierError, wire.CauseShape, "has no method verify"},
		{"verify changes", change(t, "return float(self.at == self.goal)", "self.at = self.goal; return 1.0"), wire.Solved, "", ""},
		{"verify changes something", change(t, "return float(self.at == self.goal)", "self.at += 1; return 1.0"), wire.VerifierError, wire.CauseMutation, "verify changed the state"},
		{"hint changes", change(t, `return "go %d times" % self.goal`, "self.new = 1; return ''"), wire.EnvError, wire.CauseMutation, "hint changed the state"},
		{"hint draws", change(t, `return "go %d times" % self.goal`, "return str(self.rng.random())"), wire.EnvError, wire.CauseException, "no randomness here"},
		{"four values", change(t, `return "at %d" % self.at, float(done),`, "return float(done),"), wire.EnvError, wire.CauseShape, "4 values, want 5"},
		{"three values of reset", change(t, `return "at 0", {"actions"`, `return 1, "at 0", {"actions"`), wire.EnvError, wire.CauseShape, "3 values, want 2"},
		{"constructor fails", change(t, "self.at = 0", "1 // 0"), wire.EnvError, wire.CauseException, "in __init__"},
		{"slots", "class Env:\n    __slots__ = ('n',)\n    META = {'title': 'x', 'kind': 'game', 'max_steps': 1}\n" +
			"    def reset(self, seed): self.n = 0; return '', {}\n    def step(self, a): return '', 0.0, True, False, {}\n    def state(self): return self.n\n    def verify(self): return 0\n", wire.Failed, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := solve(t, driver, tt.code); got.Outcome != tt.outcome || got.Cause != tt.cause || !strings.Contains(got.Error, tt.text) {
				t.Errorf("outcome %q, cause %q, error %q", got.Outcome, got.Cause, got.Error)
			}
		})
	}
	for name, code := range map[string]string{
		"class Walk has no method step": change(t, "def step", "def stop"),
		"there is no META":              change(t, "META", "MEAT"),
		"and no class Env":              change(t, "Env = Walk", "Env = 3"),
	} {
		if got := driver.Load(code, wire.DefaultLimits()); got.Stage != "meta" || !strings.Contains(got.Fault.Error, name) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Every episode finds the module as it is right after it was executed, whatever the others did to theirs.
func TestEpisodesShareNothing(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	for name, code := range map[string]string{
		"class": strings.Replace(class, "    def step(self, action):\n", "    def step(self, action):\n        SEEN.append(1); Walk.META['x'] = 1\n        assert len(SEEN) == len(self.seen) + 1\n", 1) + "\nSEEN = []\n",
		"functions": `
META = {"title": "Global", "kind": "game", "max_steps": 9}
SEEN = []

def reset(seed):
    SEEN.append(seed)
    return len(SEEN), "go", {}

def step(state, action):
    SEEN.append(action)
    assert len(SEEN) == state + 1
    return state + 1, "", 0.0, state > 2, False, {}

def hint(state):
    return ""

def verify(state):
    return 0
`,
	} {
		if loaded := driver.Load(code, wire.DefaultLimits()); loaded.Stage != "" {
			t.Fatalf("%s: %+v", name, loaded)
		}
		for episode := range 3 {
			if started := driver.Reset(wire.Reset{Episode: episode}); started.Outcome != wire.Ongoing {
				t.Fatalf("%s: %+v", name, started)
			}
		}
		for range 2 {
			for episode := range 3 {
				if got := driver.Step(wire.Action{Episode: episode, Text: "stay"}); got.Outcome != wire.Ongoing {
					t.Fatalf("%s: %+v", name, got)
				}
			}
		}
	}
}
