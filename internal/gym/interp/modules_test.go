package interp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

func eval(expr string, stream *seed.Rand) (string, error) {
	v, err := starlark.EvalOptions(FileOptions(), &starlark.Thread{}, "expr", expr, predeclared(func() *seed.Rand { return stream }))
	if err != nil {
		return "", err
	}
	return Canonical(v, 1<<20)
}

func TestModules(t *testing.T) {
	data, err := os.ReadFile("../../../schemas/vectors/modules.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases [][2]*string
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, c := range file.Cases {
		name, _, _ := strings.Cut(*c[0], "(")
		tried[name] = true
		got, err := eval(*c[0], nil)
		switch {
		case c[1] == nil && err == nil:
			t.Errorf("%s gives %s", *c[0], got)
		case c[1] != nil && (err != nil || got != *c[1]):
			t.Errorf("%s gives %s, %v; want %s", *c[0], got, err, *c[1])
		}
	}
	for module, members := range Modules() {
		for _, m := range members {
			if module != "rng" && !tried[module+"."+m] {
				t.Errorf("nothing tries %s.%s", module, m)
			}
		}
	}
}

// The module draws what package seed draws.
func TestRNG(t *testing.T) {
	stream, same := seed.FromEnvSeed(9), seed.FromEnvSeed(9)
	want := func(name, got string, v any) {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil || got != string(text) {
			t.Errorf("%s gives %s, want %s", name, got, text)
		}
	}
	call := func(expr string) string {
		t.Helper()
		got, err := eval(expr, stream)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		return got
	}
	want("random", call("rng.random()"), same.Float64())
	want("randint", call("rng.randint(-3, 9)"), same.RandInt(-3, 9))
	want("choice", call(`rng.choice([0, 1, 2, 3])`), same.IntN(4))
	want("shuffled", call("rng.shuffled([0, 1, 2, 3, 4])"), same.Perm(5))
	want("sample", call("rng.sample((0, 1, 2, 3, 4), 2)"), seed.Sample(same, []int{0, 1, 2, 3, 4}, 2))
	if stream.Draws() != same.Draws() {
		t.Errorf("%d draws, want %d", stream.Draws(), same.Draws())
	}
	for _, bad := range []string{
		"rng.random(1)", "rng.randint(2, 1)", "rng.randint(0, 1 << 64)", "rng.choice([])", `rng.choice("abc")`, "rng.sample([1], 2)",
		"rng.sample([1], -1)", "rng.shuffled(3)", "rng.randint(0.0, 1)", "rng.randint(lo = 0, hi = 1)",
	} {
		if got, err := eval(bad, stream); err == nil {
			t.Errorf("%s gives %s", bad, got)
		}
	}
	if _, err := eval("rng.random()", nil); err == nil {
		t.Error("there is randomness where none may be")
	}
}

// What a call costs is counted in steps of the interpreter, so it ends at the same place every time.
func TestBudgetIsExact(t *testing.T) {
	limits := wire.DefaultLimits()
	source := strings.Replace(benchSource, `    state["n"] += 1`, "    for _ in range(1000):\n        state[\"n\"] += 1", 1)
	least := uint64(0)
	for steps := uint64(1000); steps < 100_000; steps += 500 {
		limits.CallSteps = steps
		env, loaded := Load(source, limits)
		if env == nil {
			t.Fatal(loaded)
		}
		env.Reset(wire.Reset{})
		if s := env.Step(wire.Action{Text: "up"}); s.Outcome == wire.Ongoing {
			least = steps
			break
		} else if s.Cause != wire.CauseBudget {
			t.Fatalf("%+v", s.Fault)
		}
	}
	if least == 0 {
		t.Fatal("no budget is enough")
	}
	for range 3 {
		for steps, want := range map[uint64]wire.Outcome{least: wire.Ongoing, least - 500: wire.EnvError} {
			limits.CallSteps = steps
			env, _ := Load(source, limits)
			env.Reset(wire.Reset{})
			if s := env.Step(wire.Action{Text: "up"}); s.Outcome != want {
				t.Errorf("with %d steps: %+v", steps, s.Fault)
			}
		}
	}
}

func TestStateHash(t *testing.T) {
	env, _ := Load(benchSource, wire.DefaultLimits())
	s := env.Reset(wire.Reset{Seed: 1})
	// SHA-256 of [{"n":0},0]
	if s.StateHash != "fecea3f8dd2d3a9952136f096f63c6abc3bf6457505c77d55b60bb9e36690d78" {
		t.Errorf("hash %s", s.StateHash)
	}
}
