package gym

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

const fakeCommand = "__fake"

// stillborn, with the path of a file, ends the fake at once when there is the file.
const stillborn = "stillborn:"

// fakeMain is a worker that has been taken over: it speaks the protocol up to a point and then breaks it.
func fakeMain(mode string) int {
	if path, ok := strings.CutPrefix(mode, stillborn); ok {
		if _, err := os.Stat(path); err == nil {
			return 1
		}
	}
	in := wire.NewReader(os.Stdin)
	out := os.NewFile(3, "results")
	for {
		nonce, kind, _, err := in.Next()
		if err != nil {
			return 0
		}
		send := func(kind wire.Kind, body func(*wire.Encoder)) {
			var e wire.Encoder
			body(&e)
			_ = wire.WriteFrame(out, nonce, kind, e.Buf)
		}
		switch kind {
		case wire.KindHello:
			if mode == "refuse" {
				send(wire.KindRefused, func(e *wire.Encoder) { e.String("landlock is missing (boot with lsm=landlock)") })
				return 0
			}
			layers := sandbox.Rlimits
			send(wire.KindReady, func(e *wire.Encoder) { e.Uint(uint64(layers)) })
		case wire.KindProbe:
			send(wire.KindProbed, func(e *wire.Encoder) { e.String("") })
		case wire.KindLoad:
			send(wire.KindLoaded, func(e *wire.Encoder) {
				e.Loaded(wire.Loaded{Meta: wire.Meta{Title: "Fake", Kind: "game", MaxSteps: 5}})
			})
		case wire.KindResets:
			if mode == "forge" {
				send(wire.KindLast, func(e *wire.Encoder) { e.Started(wire.Started{}) })
				continue
			}
			attack(mode, nonce, out)
		case wire.KindActions:
			attack(mode, nonce, out)
		}
	}
}

func attack(mode string, nonce wire.Nonce, out *os.File) {
	var e wire.Encoder
	switch mode {
	case "nonce":
		e.Started(wire.Started{})
		nonce[0]++
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "known nonce":
		e.Started(wire.Started{Observation: "forged"})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "garbage":
		_, _ = out.WriteString(strings.Repeat("\xff", 1000))
	case "length":
		buf := wire.AppendHeader(nil, nonce, wire.KindLast)
		buf[0] = 0xff
		_, _ = out.Write(buf)
	case "cut":
		buf := wire.AppendHeader(nil, nonce, wire.KindLast)
		buf[3] = 100
		_, _ = out.Write(buf)
		os.Exit(0)
	case "other episode":
		e.Started(wire.Started{Episode: 9})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "too many":
		e.Started(wire.Started{})
		e.Started(wire.Started{})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "too few":
		_ = wire.WriteFrame(out, nonce, wire.KindLast, nil)
	case "platform's outcome":
		e.Started(wire.Started{Fault: wire.Fault{Outcome: wire.Cancelled}})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "not text":
		e.Started(wire.Started{Observation: "\xff"})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "forge":
		e.Stepped(wire.Stepped{Fault: wire.Fault{Outcome: "paid"}})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "no answers":
		for {
			if err := wire.WriteFrame(out, nonce, wire.KindResults, nil); err != nil {
				return
			}
		}
	case "solved before it began":
		e.Started(wire.Started{Fault: wire.Fault{Outcome: wire.Solved}})
		_ = wire.WriteFrame(out, nonce, wire.KindLast, e.Buf)
	case "silent":
		time.Sleep(time.Hour)
	case "flood":
		for range 500 << 4 {
			_, _ = os.Stderr.WriteString(strings.Repeat("x", 64<<10))
		}
	}
}

// A worker that has been taken over can spoil its own episodes and nothing else.
func TestTakenOverWorker(t *testing.T) {
	for _, mode := range []string{
		"nonce", "garbage", "length", "cut", "other episode", "too many", "too few", "platform's outcome", "not text", "forge",
		"silent", "flood", "no answers", "solved before it began",
	} {
		t.Run(mode, func(t *testing.T) {
			cfg := Config{Sandbox: SandboxNone}
			if mode == "silent" {
				cfg.CallTimeout = 300 * time.Millisecond
			}
			p, err := NewPool(cfg,
				Settings{Command: []string{os.Args[0], fakeCommand, mode}})
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
			w := open(t, p, "")
			started, err := w.Reset(t.Context(), []Reset{{}})
			if err != nil {
				t.Fatal(err)
			}
			fault := started[0].Fault
			if mode == "forge" {
				stepped, err := w.Step(t.Context(), []Action{{Text: "x"}})
				if err != nil {
					t.Fatal(err)
				}
				fault = stepped[0].Fault
			}
			want := EnvError
			if mode == "silent" {
				want = Timeout
			}
			if fault.Outcome != want || fault.Error == "" {
				t.Errorf("fault %+v", fault)
			}
		})
	}
}

// Whoever knows the nonce and the form of an answer can forge one, which is why what an environment prints is on another
// pipe: the same bytes there are text.
func TestForgedAnswers(t *testing.T) {
	p, err := NewPool(Config{Sandbox: SandboxNone}, Settings{Command: []string{os.Args[0], fakeCommand, "known nonce"}})
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
	started, err := open(t, p, "").Reset(t.Context(), []Reset{{}})
	if err != nil || started[0].Observation != "forged" {
		t.Errorf("got %+v, %v, so that the other tests prove nothing", started, err)
	}
	frame := "b'\\0\\0\\0\\x04' + bytes(16) + b'\\x09\\0\\0\\0\\0'"
	lines := "import os\nfor fd in (1, 2):\n    os.write(fd, " + frame + ")\nprint(" + frame + ", flush=True)"
	w, err := newPool(t, Config{Sandbox: SandboxLimits}).Open(t.Context(), Source{Runtime: RuntimePython, Code: forging(lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // the pool's end says what there is to say
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Step(t.Context(), []Action{{Text: "stay"}})
	if err != nil || got[0].Observation != "honest" || got[0].Outcome != Ongoing {
		t.Errorf("got %+v, %v", got, err)
	}
}

// forging is an environment in Python whose step runs lines and then tells the truth.
func forging(lines string) string {
	return `META = {"title": "Forging", "kind": "game", "max_steps": 3}
def reset(seed):
    return {}, "", {}
def hint(state):
    return ""
def verify(state):
    return 0.0
def step(state, action):
    ` + strings.ReplaceAll(lines, "\n", "\n    ") + `
    return state, "honest", 0.0, False, False, {}
`
}

func TestPoolWithoutAProgram(t *testing.T) {
	p, err := NewPool(Config{}, Settings{Command: []string{"/nonexistent/worker"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}
