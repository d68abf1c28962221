package gym

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// patched is a source whose worker tells of its loading what the source wants: telling is an expression for the body of the frame.
func patched(kind wire.Kind, telling string) string {
	return fmt.Sprintf(halting, fmt.Sprintf(`
import spade_worker.wire as wire
honest = wire.Pipe.send
def send(pipe, kind, body):
    string, uint = wire.string, wire.uint
    honest(pipe, kind, %s if kind == %d else body)
wire.Pipe.send = send
`, strings.ReplaceAll(telling, "%", "%%"), kind))
}

// What a worker tells of the loading is one of the things that can have happened.
func TestToldOfLoading(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	fault := `string("env_error") + string("exception") + string(%q)`
	for name, telling := range map[string]string{
		"another stage":           `string("banana") + ` + fmt.Sprintf(fault, "x") + ` + bytes(5)`,
		"a stage without a fault": `string("parse") + bytes(6)`,
		"a fault without a text":  `string("meta") + string("env_error") + string("shape") + string("") + bytes(5)`,
		"a fault without a stage": `string("") + string("env_error") + string("shape") + string("x") + bytes(5)`,
		"solved":                  `string("load") + string("solved") + string("") + string("") + bytes(5)`,
		"the platform's cause":    `string("load") + string("env_error") + string("timeout") + string("x") + bytes(5)`,
		"a large tool":            `string("") + string("") + string("t") + string("game") + uint(9) + bytes(1) + uint(1) + string('"' + "x" * (64 << 10) + '"')`,
		"a large frame":           `bytes(8 << 20)`,
	} {
		w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: patched(wire.KindLoaded, telling)})
		if err == nil {
			err = w.Close()
		}
		var refused *SourceError
		if !errors.As(err, &refused) || refused.Stage != "load" || refused.Fault.Cause != causeProtocol {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: patched(wire.KindLoaded, `string("load") + string("env_error") + string("exception") + string("é" * (1 << 20)) + bytes(5)`)})
	var refused *SourceError
	if !errors.As(err, &refused) || len(refused.Fault.Error) > 4<<10 || !strings.HasPrefix(refused.Fault.Error, "éé") {
		t.Errorf("a large error: %.100v", err)
	}
}

// The platform holds texts to their limits itself.
func TestToldOfEpisodes(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	start := func(observation, info, actions, hint, solution, hash string) string {
		return fmt.Sprintf(`uint(0) + %s + %s + %s + %s + %s + %s + string("")`, observation, info, actions, hint, solution, hash)
	}
	const none, nothing = `string("")`, "uint(0)"
	for name, telling := range map[string]string{
		"an observation": start(`string("x" * (257 << 10))`, none, nothing, none, nothing, none),
		"an info":        start(none, `string("x" * (65 << 10))`, nothing, none, nothing, none),
		"actions":        start(none, none, `uint(2) + string("x" * (600 << 10)) * 2`, none, nothing, none),
		"many actions":   start(none, none, `uint(1100000) + bytes(1100000)`, none, nothing, none),
		"a hint":         start(none, none, nothing, `string("x" * (65 << 10))`, nothing, none),
		"a solution":     start(none, none, nothing, none, `uint(1100000) + bytes(1100000)`, none),
		"a hash":         start(none, none, nothing, none, nothing, `string("x" * 65)`),
		"all of a frame": `bytes(8 << 20)`,
	} {
		w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: patched(wire.KindLast, telling)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Reset(t.Context(), []Reset{{}})
		if err != nil || got[0].Outcome != EnvError || got[0].Cause != causeProtocol {
			t.Errorf("%s: %.300v, %v", name, got, err)
		}
		if big := name == "all of a frame"; big != strings.Contains(got[0].Error, "frame over the size limit") {
			t.Errorf("%s: %s", name, got[0].Error)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A worker has the memory to say that a text is too long for its memory.
func TestTextsThatNoMemoryHoldsTwice(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	for _, value := range []string{`"x" * (80 << 20)`, `"é" * (40 << 20) + "x" * (2 << 20)`} {
		code := strings.Replace(fmt.Sprintf(halting, ""), `str(state["n"])`, value, 1)
		w, ok := openHalting(t, p, code)
		if !ok {
			t.Fatal("it does not load")
		}
		got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "x"}})
		want := "has 83886080 bytes"
		if strings.HasPrefix(value, `"é`) {
			want = "has 85983232 bytes"
		}
		if err != nil || got[0].Cause != wire.CauseLimit || !strings.Contains(got[0].Error, want) {
			t.Errorf("%s: %.300v, %v", value, got, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
