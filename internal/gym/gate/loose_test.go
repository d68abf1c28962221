package gate_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

const looseCommand = "__loose"

// lies are what a worker tells whose environment has taken it over. "process" is no lie: the environment shows the number
// of its process, as a language with clocks and addresses could. Starlark has no way to do that.
func lies() map[string]struct {
	stage, reason string
	lie           func(*wire.Meta, *wire.Started, *wire.Stepped)
} {
	type change = func(*wire.Meta, *wire.Started, *wire.Stepped)
	step := func(f func(*wire.Stepped)) change {
		return func(_ *wire.Meta, _ *wire.Started, s *wire.Stepped) {
			if s != nil {
				f(s)
			}
		}
	}
	solved := wire.Fault{Outcome: wire.Solved}
	one, half := 1.0, 0.5
	return map[string]struct {
		stage, reason string
		lie           change
	}{
		"process": {gate.StageDeterministic, "the observation after step 0 depends on something that differs from process to process", step(func(s *wire.Stepped) {
			s.Observation += fmt.Sprint(os.Getpid())
		})},
		"endless":     {gate.StageRun, "goes on after its end", step(func(s *wire.Stepped) { *s = ongoing(s) })},
		"no verdict":  {gate.StageRun, "an outcome without a verdict", step(func(s *wire.Stepped) { s.Verify = nil })},
		"all solved":  {gate.StageRun, "an outcome before the end", step(func(s *wire.Stepped) { s.Fault = solved })},
		"full return": {gate.StageRun, "the rewards add up to 0", step(func(s *wire.Stepped) { s.Return = 1 })},
		"return of 2": {gate.StageRun, "outside [0, 1]", step(func(s *wire.Stepped) {
			s.Reward, s.Return, s.Truncated, s.Fault, s.Verify = 2, 2, true, wire.Fault{Outcome: wire.Failed}, &one
		})},
		"not a number": {gate.StageRun, "NaN", step(func(s *wire.Stepped) { s.Reward = math.NaN() })},
		"cut short and solved": {gate.StageRun, `the outcome "solved"`, step(func(s *wire.Stepped) {
			s.Truncated, s.Terminated, s.Fault, s.Verify = true, false, solved, &one
		})},
		"verdict of its own": {gate.StageRun, "with a verdict of 0.5", step(func(s *wire.Stepped) {
			if s.Terminated {
				s.Verify = &half
			}
		})},
		"over without an end": {gate.StageRun, "an outcome before the end", step(func(s *wire.Stepped) { s.Fault = wire.Fault{Outcome: wire.Failed} })},
		"no hash":             {gate.StageRun, "state hash", step(func(s *wire.Stepped) { s.StateHash = "abc" })},
		"info of its own":     {gate.StageRun, "info", step(func(s *wire.Stepped) { s.Info = "null" })},
		"start without a hash": {gate.StageRun, "state hash", func(_ *wire.Meta, s *wire.Started, _ *wire.Stepped) {
			if s != nil {
				s.StateHash = ""
			}
		}},
		"a title of no length": {gate.StageMeta, "title", func(m *wire.Meta, _ *wire.Started, _ *wire.Stepped) {
			if m != nil {
				m.Title = ""
			}
		}},
		"a kind of its own": {gate.StageMeta, "kind", func(m *wire.Meta, _ *wire.Started, _ *wire.Stepped) {
			if m != nil {
				m.Kind = "secret"
			}
		}},
		"a billion steps": {gate.StageMeta, "max_steps", func(m *wire.Meta, _ *wire.Started, _ *wire.Stepped) {
			if m != nil {
				m.MaxSteps = 1 << 30
			}
		}},
	}
}

// ongoing is s of an episode that never ends.
func ongoing(s *wire.Stepped) wire.Stepped {
	return wire.Stepped{Episode: s.Episode, Observation: s.Observation, Info: "{}", StateHash: strings.Repeat("0", 64)}
}

// looseMain is a worker that tells something else than its environment does.
func looseMain(name string) int {
	lie := lies()[name].lie
	in, out := wire.NewReader(os.Stdin), os.NewFile(3, "results")
	var env *interp.Env
	for {
		nonce, kind, body, err := in.Next()
		if err != nil {
			return 0
		}
		var e wire.Encoder
		answer := map[wire.Kind]wire.Kind{
			wire.KindHello: wire.KindReady, wire.KindProbe: wire.KindProbed, wire.KindLoad: wire.KindLoaded,
			wire.KindResets: wire.KindLast, wire.KindActions: wire.KindLast,
		}[kind]
		d := wire.NewDecoder(string(body))
		switch kind {
		case wire.KindHello:
			e.Uint(0)
		case wire.KindProbe:
			e.String("")
		case wire.KindLoad:
			m := d.Load()
			loaded := wire.Loaded{}
			env, loaded = interp.Load(m.Code, m.Limits)
			lie(&loaded.Meta, nil, nil)
			e.Loaded(loaded)
		case wire.KindResets:
			for d.Bool(); d.More(); {
				s := env.Reset(d.Reset())
				lie(nil, &s, nil)
				e.Started(s)
			}
		case wire.KindActions:
			for d.Bool(); d.More(); {
				s := env.Step(d.Action())
				lie(nil, nil, &s)
				e.Stepped(s)
			}
		}
		if err := wire.WriteFrame(out, nonce, answer, e.Buf); err != nil {
			return 1
		}
	}
}

func loosePool(t *testing.T, name string) *gym.Pool {
	t.Helper()
	p, err := gym.NewPool(gym.Config{Sandbox: gym.SandboxNone, Spares: -1}, gym.Settings{Command: []string{os.Args[0], looseCommand, name}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// Nothing that a worker tells is believed when it can be checked.
func TestRefusesALyingWorker(t *testing.T) {
	for name, c := range lies() {
		t.Run(name, func(t *testing.T) {
			r := check(t, loosePool(t, name), gymtest.Counting, gate.Options{})
			if r.Accepted || r.Stage != c.stage || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
		})
	}
}
