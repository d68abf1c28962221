package gym

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

func score(v float64) *float64 { return &v }

func TestBelieved(t *testing.T) {
	nan := math.NaN()
	solved, failed, broken := Fault{Outcome: Solved}, Fault{Outcome: Failed}, Fault{Outcome: VerifierError}
	for name, tt := range map[string]struct {
		answer Stepped
		want   Outcome
	}{
		"goes on":                  {Stepped{Reward: 0.25, Return: 0.5}, Ongoing},
		"solved":                   {Stepped{Reward: 0.75, Return: 1, Terminated: true, Verify: score(1), Fault: solved}, Solved},
		"cut short":                {Stepped{Return: 0.25, Truncated: true, Verify: score(1), Fault: failed}, Failed},
		"a wrong sum":              {Stepped{Reward: 0.25, Return: 1}, EnvError},
		"a sum that is no number":  {Stepped{Reward: nan, Return: nan}, EnvError},
		"a sum without an end":     {Stepped{Reward: math.Inf(1), Return: math.Inf(1)}, EnvError},
		"after its end":            {Stepped{Return: 0.25, Terminated: true}, EnvError},
		"before its end":           {Stepped{Return: 0.25, Fault: failed}, EnvError},
		"no verdict":               {Stepped{Reward: 0.75, Return: 1, Terminated: true, Fault: solved}, EnvError},
		"another verdict":          {Stepped{Reward: 0.75, Return: 1, Terminated: true, Verify: score(0.5), Fault: solved}, EnvError},
		"a verdict out of bounds":  {Stepped{Return: 0.25, Truncated: true, Verify: score(7), Fault: failed}, EnvError},
		"a verdict, no number":     {Stepped{Return: 0.25, Truncated: true, Verify: score(nan), Fault: failed}, EnvError},
		"a return out of bounds":   {Stepped{Reward: 1, Return: 1.25, Terminated: true, Verify: score(1.25), Fault: solved}, EnvError},
		"solved with too little":   {Stepped{Reward: 0.25, Return: 0.5, Terminated: true, Verify: score(0.5), Fault: solved}, EnvError},
		"failed with everything":   {Stepped{Reward: 0.75, Return: 1, Terminated: true, Verify: score(1), Fault: failed}, EnvError},
		"a fault with odd numbers": {Stepped{Reward: nan, Return: math.Inf(-1), Verify: score(nan), Fault: broken}, VerifierError},
	} {
		tt.answer.Nondeterministic = true
		h := history{total: 0.25, actions: []string{"one", "two"}}
		got := h.believed(tt.answer, 4)
		if got.Outcome != tt.want || (got.Outcome == EnvError) != (got.Cause == wire.CauseProtocol) || !got.Nondeterministic {
			t.Errorf("%s: %+v", name, got)
		}
		if !finite(got.Reward) || !finite(got.Return) || got.Verify != nil && !finite(*got.Verify) {
			t.Errorf("%s: numbers are %+v", name, got)
		}
	}
	long := history{actions: []string{"one", "two", "three"}}
	if got := long.believed(Stepped{}, 4); got.Outcome != EnvError {
		t.Errorf("after max_steps: %+v", got)
	}
}

// The worker that says how many steps an episode may have is the environment's own process.
func TestMetaIsNotBelieved(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	for name, change := range map[string]string{
		"max_steps": "MAX_STEPS = 10**9", "title": "MAX_TITLE = 10**9", "kind": `KINDS = ("paid",)`,
	} {
		code := strings.NewReplacer(
			"\nMETA", "\nimport spade_worker.load as l\nl."+change+"\nMETA",
			`"max_steps": 9`, `"max_steps": 9 if l.MAX_STEPS == 1000 else 10**9`,
			`"Halting"`, `"Halting" if l.MAX_TITLE == 200 else "x" * 201`,
			`"game"`, "l.KINDS[-1]",
		).Replace(halting)
		w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: strings.Replace(code, "%s", "", 1)})
		if err == nil {
			err = w.Close()
		}
		var refused *SourceError
		if !errors.As(err, &refused) || refused.Stage != "meta" || !strings.Contains(refused.Fault.Error, name+" that META cannot have") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
