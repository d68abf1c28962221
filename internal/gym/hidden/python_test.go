package hidden_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/hidden"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

// secret is an environment whose number is in no observation, in the language and form of its runtime.
var secret = map[string]gym.Source{
	"starlark": {Runtime: gym.RuntimeStarlark, Code: `
META = {"title": "Guess", "kind": "game", "max_steps": 1}

def reset(seed):
    n = rng.randint(1, 1000)
    return {"n": n, "said": ""}, "Guess the number.", {}

def step(state, action):
    state["said"] = action
    return state, "", verify(state), True, False, {}

def hint(state):
    return text.str(state["n"])

def verify(state):
    return 1.0 if state["said"] == text.str(state["n"]) else 0.0

def solve(state):
    return [text.str(state["n"])]
`},
	"functions": {Runtime: gym.RuntimePython, Code: `
META = {"title": "Guess", "kind": "game", "max_steps": 1}

def reset(seed):
    n = rng.randint(1, 1000)
    return {"n": n, "said": ""}, "Guess the number.", {}

def step(state, action):
    state["said"] = action
    return state, "", verify(state), True, False, {}

def hint(state):
    return str(state["n"])

def verify(state):
    return 1.0 if state["said"] == str(state["n"]) else 0.0

def solve(state):
    return [str(state["n"])]
`},
	"class": {Runtime: gym.RuntimePython, Code: `
class Env:
    META = {"title": "Guess", "kind": "game", "max_steps": 1}

    def reset(self, seed):
        self.n, self.said = self.rng.randint(1, 1000), ""
        return "Guess the number.", {}

    def step(self, action):
        self.said = action
        return "", self.verify(), True, False, {}

    def hint(self):
        return str(self.n)

    def verify(self):
        return 1.0 if self.said == str(self.n) else 0.0

    def solve(self):
        return [str(self.n)]
`},
}

// A number that no observation holds is found out in every form, and one that is shown is none.
func TestRealWorkers(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20})
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	for name, src := range secret {
		if got := share(t, p, src, seeds); got != 1 {
			t.Errorf("%s: a secret number has a share of %v", name, got)
		}
		shown := map[string]string{"starlark": `text.str(n)`, "functions": `str(n)`, "class": `str(self.n)`}[name]
		src.Code = strings.Replace(src.Code, `"Guess the number."`, shown, 1)
		if got := share(t, p, src, seeds); got != 0 {
			t.Errorf("%s: a number that is shown has a share of %v", name, got)
		}
	}
}

// A worker that only loads and never answers afterwards is given up.
func TestAHangIsGivenUp(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20})
	for name, at := range map[string]string{"reset": "def reset(seed):\n", "step": "def step(state, action):\n"} {
		src := secret["functions"]
		src.Code = strings.Replace(src.Code, at, at+"    while True: pass\n", 1)
		w, err := p.Open(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = hidden.Share(t.Context(), w, hidden.Limits{Steps: 1, Time: time.Second}, []uint64{1, 2})
		if !errors.Is(err, hidden.ErrLate) || time.Since(began) > 8*time.Second {
			t.Errorf("%s: after %v: %v", name, time.Since(began), err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func share(t *testing.T, p *gym.Pool, src gym.Source, seeds []uint64) float64 {
	t.Helper()
	w, err := p.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	limits := hidden.Limits{Steps: w.Meta().MaxSteps, Time: time.Minute}
	got, err := hidden.Share(t.Context(), w, limits, seeds)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}
