package gate_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == looseCommand {
		os.Exit(looseMain(os.Args[2]))
	}
	gymtest.Main(m)
}

func check(t testing.TB, p *gym.Pool, code string, opts gate.Options) gate.Report {
	t.Helper()
	r, err := gate.Check(t.Context(), p, gym.Source{Runtime: gym.RuntimeStarlark, Code: code}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAccepts(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20})
	var heard []gate.CheckResult
	r := check(t, p, gymtest.Counting, gate.Options{
		Portable: true, BothRuntimes: true, RequireSolve: true, Progress: func(c gate.CheckResult) { heard = append(heard, c) },
	})
	if !r.Accepted {
		t.Fatalf("refused at %s: %s", r.Stage, r.Reason)
	}
	var stages []string
	for _, c := range r.Checks {
		if !c.OK || c.Skipped {
			t.Errorf("%+v", c)
		}
		stages = append(stages, c.Stage)
	}
	if !reflect.DeepEqual(stages, gate.Stages()) || !reflect.DeepEqual(heard, r.Checks) {
		t.Errorf("stages are %v", stages)
	}
	s := r.Stats
	if s.Seeds != 4 || s.Episodes != 4+3+16 || s.ReferenceSteps < 4 || s.ReferenceStepsMax > 6 || s.ActionsMean != 3 ||
		s.DistinctStarts < 2 || s.HintBytes == 0 || s.ObservationBytes == 0 || s.RandomSteps == 0 || s.WrongSolved > 1 {
		t.Errorf("stats are %+v", s)
	}
	if r.Meta.Title != "Counting" || r.Tier != gym.TierStarlark {
		t.Errorf("meta %+v, tier %q", r.Meta, r.Tier)
	}
}

// Each refusal is one change of the accepted source.
func TestRefuses(t *testing.T) {
	tests := []struct {
		name, stage, reason string
		old, new            string // "" for old: new is the whole source
	}{
		{"too large", gate.StageSize, "are allowed", "", "# " + strings.Repeat("x", gym.MaxCode)},
		{"not text", gate.StageParse, "UTF-8", "", "x = '\xff'"},
		{"does not parse", gate.StageParse, "env.star:1:8", "", "def f(:"},
		{"unknown name", gate.StageParse, "undefined: os", "", "x = os"},
		{"endless loop at import", gate.StageLoad, "steps", "", "while True:\n    pass"},
		{"two gigabytes", gate.StageLoad, "memory", "", "x = [1] * (1 << 27)"},
		{"long text", gate.StageLoad, "", "", "x = ['a' * (1 << 29) for _ in range(4)]"},
		{"endless list", gate.StageLoad, "", "", "x = list(range(1 << 62))"},
		{"endless sort", gate.StageLoad, "", "", "x = sorted(range(1 << 62))"},
		{"recursion", gate.StageLoad, "nested deeper", "", "def f(n):\n    return f(n + 1)\nf(0)"},
		{"import", gate.StageLoad, "load not implemented", "", "load('os', 'system')"},
		{"no META", gate.StageMeta, "META", "META =", "META_ ="},
		{"blank title", gate.StageMeta, "title", `"Counting"`, `" "`},
		{"NUL in the title", gate.StageMeta, "title", `"Counting"`, `"a\000b"`},
		{"bad kind", gate.StageMeta, "kind", `"game"`, `"puzzle"`},
		{"no verify", gate.StageMeta, "verify", "def verify", "def verify_"},
		{"reset of two", gate.StageReset, "2 values", `return state, show(state), {"actions": ACTIONS}`, "return state, show(state)"},
		{"state not JSON", gate.StageReset, "JSON", `"n": 0,`, `"n": 0, 1: 2,`},
		{"hint not text", gate.StageReset, "hint", `return text.format("Say`, `return 1 #`},
		{"solve changes the state", gate.StageReset, "changed the state", `return ["up"] * (state["goal"] - state["n"])`, "state[\"n\"] = 1\n    return []"},
		{"step fails on junk", gate.StageRun, "fail: what", "    done = state", "    if action not in ACTIONS:\n        fail(\"what\")\n    done = state"},
		{"huge observation", gate.StageRun, "size limit", "return state, show(state), 1.0 if", `return state, "x" * 300000, 1.0 if`},
		{"endless step", gate.StageRun, "steps", "    done = state", "    while True:\n        pass\n    done = state"},
		{"five values", gate.StageRun, "5 values", `done, False, {"actions": ACTIONS}`, "done, False"},
		{"never ends", gate.StageTerminates, "truncated at step 12", `* (state["goal"] - state["n"])`, `* 2 + ["stay"] * 20`},
		{"solution too short", gate.StageTerminates, "do not end", `* (state["goal"] - state["n"])`, `* 2`},
		{"both ends at once", gate.StageTerminates, "both terminated and truncated", "done, False, {", "done, done, {"},
		{"solved and truncated", gate.StageTerminates, "what is solved must terminate", "done, False, {", "False, done, {"},
		{"verify says yes to everything", gate.StageVerify, "cut short with a return of 0", `return 1.0 if state["n"] == state["goal"] else 0.0`, "return 1.0"},
		{"NaN", gate.StageRewards, "NaN", "1.0 if done", `float("nan") if done`},
		{"return of two", gate.StageRewards, "outside [0, 1]", "1.0 if done", "2.0 if done"},
		{"verify quarrels", gate.StageVerify, "verify says", `return 1.0 if state["n"] == state["goal"] else 0.0`, "return 0.5"},
		{"verify changes the state", gate.StageVerify, "changed the state", "def verify(state):", "def verify(state):\n    state[\"n\"] = 0"},
		{"verify draws", gate.StageVerify, "no randomness", "def verify(state):", "def verify(state):\n    rng.random()"},
		{"half solved", gate.StageReference, "0.5", "1.0 if done", "0.5 if done"},
		{"everything is right", gate.StageWrong, "three wrong", `done = state["n"] == state["goal"]`, `state["n"] = state["goal"]` + "\n    done = True"},
		{"solved by chance", gate.StageRandom, "random policy", `if action == "up":`, `if action in ACTIONS:`},
		{"hint in the observation", gate.StageHint, "hint", `return text.format("The counter is at`, `return text.format("Please say UP as often as is needed, the counter is at`},
	}
	p := gymtest.NewPool(t, gym.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code := tt.new
			if tt.old != "" {
				if code = strings.ReplaceAll(gymtest.Counting, tt.old, tt.new); code == gymtest.Counting {
					t.Fatal("nothing was changed")
				}
			}
			switch tt.name {
			case "half solved":
				code = strings.Replace(code, "return 1.0 if state", "return 0.5 if state", 1)
			case "hint in the observation":
				code = strings.Replace(code, "Say up {} times.", "Say up as often as is needed: {} times.", 1)
			}
			r := check(t, p, code, gate.Options{})
			if r.Accepted || r.Stage != tt.stage || !strings.Contains(r.Reason, tt.reason) {
				t.Fatalf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
			if r.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

// What the agent may choose from is no secret, whatever the hint says of it; anything else is.
func TestOfferedActionsAreNoLeak(t *testing.T) {
	const call = `{"arguments": {"room": "conservatory"}, "name": "open_the_door"}`
	p := gymtest.NewPool(t, gym.Config{})
	code := strings.NewReplacer(
		`ACTIONS = ["up", "down", "stay"]`, `ACTIONS = ['`+call+`', "down", "stay"]`,
		`action == "up"`, `action == ACTIONS[0]`,
		`["up"] *`, `[ACTIONS[0]] *`,
		`text.format("Say up {} times.", state`, `text.format("Say {} {} times.", ACTIONS[0], state`,
		`text.format("The counter is at`, `text.format("A conservatory. One may do `+strings.NewReplacer("{", "{{", "}", "}}", `"`, `\"`).Replace(call)+`. The counter is at`,
	).Replace(gymtest.Counting)
	if r := check(t, p, code, gate.Options{}); !r.Accepted {
		t.Errorf("refused at %s: %s", r.Stage, r.Reason)
	}
	for name, info := range map[string]string{"not listed": `{}`, "told beside": `{"actions": ACTIONS, "answer": "conservatory, open_the_door"}`} {
		leaky := strings.ReplaceAll(code, `{"actions": ACTIONS}`, info)
		if name == "told beside" {
			leaky = strings.Replace(leaky, `"Say {} {} times."`, `"The answer: conservatory, open_the_door; say {} {} times."`, 1)
		}
		if r := check(t, p, leaky, gate.Options{}); r.Stage != gate.StageHint {
			t.Errorf("%s: stage %q, %s", name, r.Stage, r.Reason)
		}
	}
}

func TestSameReportEverywhere(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{})
	q := gymtest.NewPool(t, gym.Config{MaxWorkers: 1, Spares: -1})
	opts := gate.Options{Seed: 5}
	a, b := check(t, p, gymtest.Counting, opts), check(t, q, gymtest.Counting, opts)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
	opts.Seed = 6
	if c := check(t, p, gymtest.Counting, opts); reflect.DeepEqual(a.Stats, c.Stats) {
		t.Error("the seed changes nothing")
	}
}

func TestWithoutSolution(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{})
	code := strings.Replace(gymtest.Counting, "def solve", "def solve_", 1)
	r := check(t, p, code, gate.Options{})
	if !r.Accepted {
		t.Errorf("refused at %s: %s", r.Stage, r.Reason)
	}
	skipped := 0
	for _, c := range r.Checks {
		if c.Skipped {
			skipped++
			if c.OK || c.Reason == "" {
				t.Errorf("%+v", c)
			}
		}
	}
	if skipped != 2 {
		t.Errorf("%d stages skipped", skipped)
	}
	if r := check(t, p, code, gate.Options{RequireSolve: true}); r.Accepted || r.Stage != gate.StageReference {
		t.Errorf("accepted %v at %q", r.Accepted, r.Stage)
	}
}

// A source that is refused while its worker is open gives the worker back.
func TestRefusedWorkerIsFree(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MaxWorkers: 1})
	for range 2 {
		if r := check(t, p, gymtest.Counting+"\nx = 2 << 1\n", gate.Options{Portable: true}); r.Stage != gate.StagePortable {
			t.Errorf("stage %q, %s", r.Stage, r.Reason)
		}
	}
}

func TestCancelled(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := gate.Check(ctx, p, gym.Source{Runtime: gym.RuntimeStarlark, Code: gymtest.Counting}, gate.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// BenchmarkCheck judges one small source, as the designer does.
func BenchmarkCheck(b *testing.B) {
	p := gymtest.NewPool(b, gym.Config{})
	b.Run("starlark", func(b *testing.B) {
		for b.Loop() {
			if r := check(b, p, gymtest.Counting, gate.Options{}); !r.Accepted {
				b.Fatal(r.Reason)
			}
		}
	})
	b.Run("python", func(b *testing.B) {
		code := read(b, "testdata/counting.py")
		for b.Loop() {
			if r := checkPython(b, p, code, gate.Options{}); !r.Accepted {
				b.Fatal(r.Reason)
			}
		}
	})
	b.Run("python refused with its cause", func(b *testing.B) {
		code := changed(b, read(b, "testdata/counting.py"), `return ""`, `return str(__import__("random").random())`)
		for b.Loop() {
			if r := checkPython(b, p, code, gate.Options{}); r.Stage != gate.StageDeterministic {
				b.Fatal(r.Reason)
			}
		}
	})
}
