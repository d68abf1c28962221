package gym

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// with returns the counting environment with one piece replaced.
func with(t testing.TB, old, repl string) string {
	t.Helper()
	code := strings.Replace(counting, old, repl, 1)
	if code == counting {
		t.Fatalf("%q is not in the source", old)
	}
	return code
}

// inStep returns the counting environment with a line of code in front of its step.
func inStep(t testing.TB, line string) string {
	return with(t, `    if action == "up":`, "    "+line+"\n"+`    if action == "up":`)
}

// oneStep plays one action of a fresh episode.
func oneStep(t testing.TB, p *Pool, code, action string) Stepped {
	t.Helper()
	w := open(t, p, code)
	started, err := w.Reset(t.Context(), []Reset{{}})
	if err != nil {
		t.Fatal(err)
	}
	if started[0].Outcome != Ongoing {
		t.Fatalf("reset: %+v", started[0].Fault)
	}
	got, err := w.Step(t.Context(), []Action{{Text: action}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// Whatever a source does in a step comes back as a typed outcome of its episode.
func TestHostileSteps(t *testing.T) {
	p := newPool(t, Config{})
	tests := []struct {
		name, code, action string
		outcome            Outcome
		cause              Cause
		text               string
	}{
		{"exception", inStep(t, "x = 1 // 0"), "up", EnvError, wire.CauseException, "env.star:8:11: in step"},
		{"endless loop", inStep(t, "while True: pass"), "up", EnvError, wire.CauseBudget, "steps"},
		{"two gigabytes", inStep(t, "x = [1] * (1 << 27)"), "up", EnvError, wire.CauseMemory, "memory"},
		{"slow two gigabytes", inStep(t, "x = [[i] * 100000 for i in range(2000)]"), "up", EnvError, wire.CauseMemory, "memory"},
		{"long text", inStep(t, "x = ['a' * (1 << 29) for _ in range(4)]"), "up", EnvError, wire.CauseMemory, "memory"},
		{"endless list", inStep(t, "x = list(range(1 << 62))"), "up", EnvError, wire.CauseMemory, "out of range"},
		{"endless sort", inStep(t, "x = sorted(range(1 << 62))"), "up", EnvError, wire.CauseMemory, "out of range"},
		{"recursion", inStep(t, "step(state, action)"), "up", EnvError, wire.CauseRecursion, "nested deeper"},
		{"wrong shape", with(t, "return state, text.format", "return text.format"), "up", EnvError, wire.CauseShape, "5 values"},
		{"nothing", inStep(t, "return None"), "up", EnvError, wire.CauseShape, "NoneType"},
		{"a text for six values", inStep(t, "return 'abcdef'"), "up", EnvError, wire.CauseShape, "string"},
		{"NaN", with(t, "1.0 if done else 0.0", `float("nan")`), "up", EnvError, wire.CauseReward, "NaN"},
		{"infinity", with(t, "1.0 if done else 0.0", `float("inf")`), "up", EnvError, wire.CauseReward, "Inf"},
		{"reward is true", with(t, "1.0 if done else 0.0", `True`), "up", EnvError, wire.CauseShape, "bool"},
		{"flags are numbers", with(t, "done, False, {", `1, 0, {`), "up", EnvError, wire.CauseShape, "bools"},
		{"NaN in the state", inStep(t, `state["x"] = float("nan")`), "up", EnvError, wire.CauseShape, "NaN"},
		{"function in the state", inStep(t, `state["x"] = step`), "up", EnvError, wire.CauseShape, "function"},
		{"state in itself", inStep(t, `state["x"] = state`), "up", EnvError, wire.CauseShape, "nested deeper"},
		{"huge state", inStep(t, `state["x"] = "x" * (2 << 20)`), "up", EnvError, wire.CauseLimit, "size limit"},
		{"huge number", inStep(t, `state["x"] = math.pow(10, 1000) * math.pow(10, 1000)`), "up", EnvError, wire.CauseShape, "digits"},
		{"observation is a list", with(t, `text.format("{} of {}", state["n"], state["goal"])`, "[]"), "up", EnvError, wire.CauseShape, "list"},
		{"huge observation", with(t, `text.format("{} of {}", state["n"], state["goal"])`, `"x" * 300000`), "up", EnvError, wire.CauseLimit, "300000"},
		{"surrogate", with(t, `text.format("{} of {}", state["n"], state["goal"])`, `"é"[:1]`), "up", TextEncoding, wire.CauseEncoding, "UTF-8"},
		{"huge info", with(t, `done, False, {`, `done, False, {"x": "y" * 70000, `), "up", EnvError, wire.CauseLimit, "info"},
		{"info is a list", with(t, `done, False, {"actions": ["up", "stay"]}`, `done, False, []`), "up", EnvError, wire.CauseShape, "info"},
		{"actions are numbers", with(t, `done, False, {"actions": ["up", "stay"]}`, `done, False, {"actions": [1]}`), "up", EnvError, wire.CauseShape, "actions"},
		{"randomness later", with(t, "    return \"say up\"", "    return rng.choice"), "up", Ongoing, "", ""},
		{"flood of prints", inStep(t, `[print("x" * 1000) for _ in range(100000)]`), "up", Ongoing, "", ""},
		{"action of a surrogate", counting, "\xed\xa0\x80", TextEncoding, wire.CauseEncoding, "UTF-8"},
		{"action of ten megabytes", counting, strings.Repeat("x", 10<<20), Overlong, wire.CauseLimit, "10485760"},
		{"action with NUL", counting, "a\x00b", Ongoing, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := oneStep(t, p, tt.code, tt.action)
			if got.Outcome != tt.outcome || got.Cause != tt.cause || !strings.Contains(got.Error, tt.text) {
				t.Errorf("outcome %q, cause %q, error %q", got.Outcome, got.Cause, got.Error)
			}
			if got.Nondeterministic {
				t.Error("marked as nondeterministic")
			}
		})
	}
	// After all of that the pool plays on.
	if got := oneStep(t, p, counting, "up"); got.Observation != "1 of 5" {
		t.Errorf("got %+v", got)
	}
}

func TestHostileSources(t *testing.T) {
	p, hasty := newPool(t, Config{}), newPool(t, Config{LoadTimeout: 4 * time.Second})
	tests := []struct {
		name, code, stage string
		cause             Cause
	}{
		{"parse error", "def f(:", "parse", wire.CauseException},
		{"deep nesting", strings.Repeat("(", 250_000), "parse", wire.CauseException},
		{"endless loop", "while True: pass", "load", wire.CauseBudget},
		{"endless loop of loops", "def f():\n    for i in range(1 << 40):\n        pass\nf()", "load", wire.CauseBudget},
		{"memory", "x = [1] * (1 << 27)", "load", wire.CauseMemory},
		{"memory by doubling", "x = ['abc'] * 1000\nfor _ in range(40):\n    x = x + x", "load", wire.CauseMemory},
		// Numbers of some megabytes: few interpreter steps, no memory to speak of, and for ever.
		{"slow multiplication", "x = 3\nfor _ in range(24):\n    x = x * x\nfor _ in range(1 << 20):\n    y = x * x", "load", wire.CauseTimeout},
		{"failing call", "Y = json.decode('{')", "load", wire.CauseException},
		{"randomness at import", "Y = rng.random()", "load", wire.CauseException},
		{"no functions", "META = {}", "meta", wire.CauseShape},
		{"endless META", "META = {'title': 'a', 'kind': 'game', 'max_steps': 1 << 70}\ndef reset(): pass\nstep = reset\nhint = reset\nverify = reset", "meta", wire.CauseShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool := p
			if tt.cause == wire.CauseTimeout {
				pool = hasty
			}
			_, err := pool.Open(t.Context(), Source{Runtime: RuntimeStarlark, Code: tt.code})
			var refused *SourceError
			if !errors.As(err, &refused) {
				t.Fatalf("error is %v", err)
			}
			if refused.Stage != tt.stage || refused.Fault.Cause != tt.cause || refused.Fault.Error == "" {
				t.Errorf("stage %q, fault %+v", refused.Stage, refused.Fault)
			}
			if (refused.Fault.Cause == wire.CauseTimeout) != refused.Fault.Nondeterministic {
				t.Error("what a clock ended must be marked, and nothing else")
			}
		})
	}
	if _, err := p.Open(t.Context(), Source{Runtime: "cobol"}); !errors.Is(err, ErrRuntime) {
		t.Errorf("error is %v", err)
	}
}

// An episode begins from the state right after loading, whatever an earlier one did: what it shares with others is frozen.
func TestEpisodesShareNothing(t *testing.T) {
	p := newPool(t, Config{})
	for _, line := range []string{"SEEN.append(action)", `META["kind"] = "tools"`, `DEFAULT["x"] = 1`} {
		code := with(t, "def hint", "SEEN = []\nDEFAULT = {}\ndef hint")
		code = strings.Replace(code, `    if action == "up":`, "    "+line+"\n    if action == \"up\":", 1)
		if got := oneStep(t, p, code, "up"); got.Outcome != EnvError || !strings.Contains(got.Error, "frozen") {
			t.Errorf("%s: %+v", line, got)
		}
	}
	// A mutable default of a function is frozen as well.
	code := with(t, "def step(state, action):", "def note(a, seen = []):\n    seen.append(a)\n    return len(seen)\n\ndef step(state, action):\n    note(action)")
	if got := oneStep(t, p, code, "up"); got.Outcome != EnvError || !strings.Contains(got.Error, "frozen") {
		t.Errorf("default: %+v", got)
	}
}

// A state that two names share is two values after the call, as JSON has it.
func TestStateIsAJSONValue(t *testing.T) {
	code := strings.Replace(with(t, `return {"n": 0, "goal": 5}`, `x = [0]
    return {"n": 0, "goal": 5, "b": x, "a": x, "t": (1, 2)}`), `    if action == "up":`, `    state["a"].append(1)
    if len(state["b"]) != 1 or type(state["t"]) != "list" or state.keys()[0] != "a":
        fail("shared")
    if action == "up":`, 1)
	if got := oneStep(t, newPool(t, Config{}), code, "up"); got.Outcome != Ongoing {
		t.Errorf("got %+v", got.Fault)
	}
}

func TestVerifier(t *testing.T) {
	p := newPool(t, Config{})
	verify := `return 1.0 if state["n"] == state["goal"] else 0.0`
	for name, tt := range map[string]struct {
		code  string
		cause Cause
	}{
		"changes the state": {with(t, verify, `state["n"] = 9`), wire.CauseMutation},
		"says nothing":      {with(t, verify, "pass"), wire.CauseShape},
		"says two":          {with(t, verify, "return 2"), wire.CauseReward},
		"says true":         {with(t, verify, "return True"), wire.CauseShape},
		"disagrees":         {with(t, verify, "return 0.25"), wire.CauseMismatch},
		"fails":             {with(t, verify, "fail('no')"), wire.CauseException},
		"draws":             {with(t, verify, "return rng.random()"), wire.CauseException},
		"never ends":        {with(t, verify, "while True: pass"), wire.CauseBudget},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, p, tt.code)
			if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
				t.Fatal(err)
			}
			var last Stepped
			for range 5 {
				got, err := w.Step(t.Context(), []Action{{Text: "up"}})
				if err != nil {
					t.Fatal(err)
				}
				last = got[0]
			}
			if last.Outcome != VerifierError || last.Cause != tt.cause || !last.Terminated || last.Return != 1 {
				t.Errorf("got %+v", last)
			}
			if (last.Verify != nil) != (name == "disagrees") {
				t.Errorf("verdict %v", last.Verify)
			}
		})
	}
}
