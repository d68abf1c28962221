package gate_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
)

// What is paid for in one arm of a run and not in the other buys regret. Each source knows the arm by something that only a
// worker has which is like that arm's.
func TestMeetsWhatKnowsARun(t *testing.T) {
	const asked = "whether its hint or its solution was asked for"
	p := pythonPool(t, gym.Config{})
	honest := read(t, "testdata/buys_regret.py")
	for name, c := range map[string]struct{ cheats, reason string }{
		"the plain arm by its hash seed":         {`H0 and not TOLD`, asked},
		"the plain arm by its hash seed, early":  {`H0 and not TOLD and KEPT["begun"] < 30 and KEPT["begun"] > 3`, ""},
		"the hinted arm by what is not asked":    {`H0 and TOLD == {"hint"}`, asked},
		"the plain arm by more seeds":            {`H0 and not TOLD and len(SEEDS) > 4`, ""},
		"the hinted arm without the hash's seed": {`TOLD == {"hint"}`, asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := changed(t, honest, "return False  # here", "return "+c.cheats)
			// A run's numbers of seeds and episodes are among those that are drawn, and so are others: what looks for a number is
			// met sooner or later, and a run plays the hinted arm's moves again besides.
			var r gate.Report
			for draw := uint64(0); draw < 8 && r.Stage == ""; draw++ {
				r = checkPython(t, p, code, gate.Options{RequireSolve: true, Seed: draw})
			}
			if r.Accepted || r.Stage != gate.StageDeterministic || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
			t.Log(r.Reason)
		})
	}
	if r := checkPython(t, p, honest, gate.Options{RequireSolve: true, Seed: 3}); !r.Accepted {
		t.Errorf("the honest one is refused at %s: %s", r.Stage, r.Reason)
	}
}
