package gate_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

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

// A source that a clock ends while it loads is tried no more often than it takes to see that: neither twice at first, nor a
// dozen times to find out why it loads here and not there.
func TestALoadThatHangsIsNotTriedAgain(t *testing.T) {
	const limit = 2 * time.Second
	p := pythonPool(t, gym.Config{LoadTimeout: limit})
	base := read(t, "testdata/counting.py")
	checkPython(t, p, "def", gate.Options{}) // the sandbox is tested at the first source
	for name, c := range map[string]struct{ code, stage string }{
		"at once": {"while True: pass\n", gate.StageLoad},
		"later":   {"import time\nwhile time.timezone: pass\n", gate.StageDeterministic},
	} {
		t.Run(name, func(t *testing.T) {
			before := childTime(t)
			r := checkPython(t, p, c.code+base, gate.Options{})
			if r.Accepted || r.Stage != c.stage || !strings.Contains(r.Reason, "no answer within") {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
			if took := childTime(t) - before; took < limit/2 || took > limit*3/2 {
				t.Errorf("it took %v of processor time", took)
			} else {
				t.Log(took)
			}
		})
	}
}

// childTime is the processor time of all processes that were started and have ended.
func childTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
