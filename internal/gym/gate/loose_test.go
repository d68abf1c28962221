package gate_test

import (
	"fmt"
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

// looseMain is a worker whose environment shows the number of its process, as a language with clocks and addresses could.
// Starlark has no way to do that.
func looseMain() int {
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
			e.Loaded(loaded)
		case wire.KindResets:
			for d.Bool(); d.More(); {
				e.Started(env.Reset(d.Reset()))
			}
		case wire.KindActions:
			for d.Bool(); d.More(); {
				s := env.Step(d.Action())
				s.Observation += fmt.Sprint(os.Getpid())
				e.Stepped(s)
			}
		}
		if err := wire.WriteFrame(out, nonce, answer, e.Buf); err != nil {
			return 1
		}
	}
}

func TestRefusesWhatDiffersBetweenWorkers(t *testing.T) {
	p, err := gym.NewPool(gym.Config{Sandbox: gym.SandboxNone}, gym.Settings{Command: []string{os.Args[0], looseCommand}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := check(t, p, gymtest.Counting, gate.Options{})
	if r.Accepted || r.Stage != gate.StageDeterministic || !strings.Contains(r.Reason, "the observation after step 0 is not the same") {
		t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
	}
}
