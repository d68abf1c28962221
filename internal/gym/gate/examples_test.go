package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/hidden"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

const examples = "../../../examples/"

// Every hand-written example passes every stage, on more seeds than the gate plays by itself, and needs no fact that its
// observations do not hold.
func TestExamples(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20})
	kinds := map[string]bool{}
	for suffix, runtime := range map[string]string{".star": gym.RuntimeStarlark, ".py": gym.RuntimePython} {
		files, err := filepath.Glob(examples + "environments/*" + suffix)
		if err != nil || len(files) < 2 {
			t.Fatalf("examples %v, %v", files, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				src := gym.Source{Runtime: runtime, Code: read(t, file)}
				kinds[runtime+passes(t, p, src).Meta.Kind] = true
			})
		}
	}
	for _, kind := range []string{"starlark" + "reasoning", "starlark" + "tools", "starlark" + "game", "python" + "tools", "python" + "game"} {
		if !kinds[kind] {
			t.Errorf("no example of kind %s", kind)
		}
	}
}

func passes(t *testing.T, p *gym.Pool, src gym.Source) gate.Report {
	t.Helper()
	opts := gate.Options{RequireSolve: true, Portable: src.Runtime == gym.RuntimeStarlark}
	for seed := range uint64(40) {
		opts.Seeds = append(opts.Seeds, seed)
	}
	r, err := gate.Check(t.Context(), p, src, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Accepted {
		t.Fatalf("refused at %s: %s", r.Stage, r.Reason)
	}
	w, err := p.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	share, err := hidden.Share(t.Context(), w, hidden.Limits{Steps: r.Meta.MaxSteps}, opts.Seeds)
	if err := errors.Join(err, w.Close()); err != nil || share != 0 {
		t.Errorf("%v of the seeds need a fact that no observation holds; %v", share, err)
	}
	t.Logf("%+v", r.Stats)
	return r
}

// gymnasiumPool is a pool with the package set gymnasium. Only `make test-envs` installs it.
func gymnasiumPool(t *testing.T) *gym.Pool {
	t.Helper()
	if os.Getenv("SPADE_TEST_ENVS") != "1" {
		t.Skip("make test-envs installs gymnasium and runs this")
	}
	found, err := pools.Installed(t.Context(), pools.Config{})
	if err != nil || found["gymnasium"] == "" {
		t.Fatalf("gymnasium is not installed: %v", err)
	}
	return gymtest.NewPool(t, gym.Config{MemoryBytes: 512 << 20, Python: gym.PythonConfig{Packages: found}})
}

func TestGymnasiumExample(t *testing.T) {
	p := gymnasiumPool(t)
	passes(t, p, gym.Source{Runtime: gym.RuntimePython, Package: "gymnasium", Code: read(t, examples+"gymnasium/lake.py")})
}

// A plain gymnasium.Env has neither hint nor verify nor solve. What needs them is skipped, and the report says so.
func TestPlainGymnasium(t *testing.T) {
	p := gymnasiumPool(t)
	base := read(t, "testdata/corridor.py")
	for name, c := range map[string]struct{ old, new, stage string }{
		"as it is":            {"", "", ""},
		"numpy's globals":     {"self.at = 0", "import numpy; self.at = int(numpy.random.randint(2))", gate.StageDeterministic},
		"its own generator":   {"self.at = 0", "self.at = int(self.np_random.integers(2))", ""},
		"without the seed":    {"super().reset(seed=seed)", "super().reset()\n        self.bias = float(self.np_random.random())", gate.StageDeterministic},
		"the clock":           {"self.at = 0", "import time; self.at = int(time.time()) % 7", gate.StageDeterministic},
		"rewards of its own":  {"float(there)", "5.0 * there", gate.StageRewards},
		"both ends at once":   {"there, False, {}", "there, over or there, {}", ""},
		"never ends":          {"over or there, False, {}", "False, False, {}", gate.StageTerminates},
		"fails on an action":  {"self.at +=", "assert action == 1; self.at +=", gate.StageRun},
		"a space of graphs":   {"Discrete(6)", "Sequence(spaces.Discrete(2))", gate.StageReset},
		"outside of [0, 1]":   {"class Corridor(gymnasium.Env):\n", "class Corridor(gymnasium.Env):\n    return_range = (0, 0)\n", gate.StageMeta},
		"state left in numpy": {"self.at = 0", "import numpy; self.at = getattr(numpy, 'at', 0); numpy.at = 1 - self.at", gate.StageDeterministic},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := base
			if c.old != "" {
				code = changed(t, base, c.old, c.new)
			}
			src := gym.Source{Runtime: gym.RuntimePython, Package: "gymnasium", Code: code}
			r, err := gate.Check(t.Context(), p, src, gate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Accepted != (c.stage == "") || r.Stage != c.stage {
				t.Errorf("accepted %v, stage %q: %s", r.Accepted, r.Stage, r.Reason)
			}
			skipped := 0
			for _, check := range r.Checks {
				if check.Skipped {
					skipped++
				}
			}
			if r.Accepted && skipped != 2 {
				t.Errorf("%d stages are skipped", skipped)
			}
			t.Log(r.Reason)
		})
	}
	src := gym.Source{Runtime: gym.RuntimePython, Package: "gymnasium", Code: base}
	r, err := gate.Check(t.Context(), p, src, gate.Options{RequireSolve: true})
	if err != nil || r.Accepted || r.Stage != gate.StageReference {
		t.Errorf("a solution is required: accepted %v, stage %q, %v", r.Accepted, r.Stage, err)
	}
}
