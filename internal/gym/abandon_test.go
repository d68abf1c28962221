package gym

import (
	"errors"
	"fmt"
	"testing"
)

// halting is a source whose steps count, take their time over an answer, or end the process. In between it may load on some
// occasions only.
const halting = `
import os, time
%s

META = {"title": "Halting", "kind": "game", "max_steps": 9}

def reset(seed):
    return {"n": 0}, "", {}

def step(state, action):
    state["n"] += 1
    if action == "slow":
        time.sleep(0.2)
    if action == "exit":
        os._exit(1)
    return state, str(state["n"]), 0.0, action == "end", False, {}

def hint(state):
    return ""

def verify(state):
    return 0.0
`

// atRandom ends every other process when it loads the source, which is the first time that it runs.
const atRandom = `
if not hasattr(time, "loaded"):
    time.loaded = True
    if os.urandom(1)[0] < 128:
        os._exit(1)
`

func openHalting(t *testing.T, p *Pool, code string) (*Worker, bool) {
	t.Helper()
	w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: code})
	var refused *SourceError
	if errors.As(err, &refused) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reset(t.Context(), []Reset{{Episode: 0}, {Episode: 1}, {Episode: 2}}); err != nil {
		t.Fatal(err)
	}
	return w, true
}

// What was answered before a process died in the middle of a batch stays answered: its episode goes on from there.
func TestAnsweredBeforeADeath(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	w, ok := openHalting(t, p, fmt.Sprintf(halting, ""))
	if !ok {
		t.Fatal("it does not load")
	}
	defer w.Close() //nolint:errcheck // the pool's end says what there is to say
	got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "slow"}, {Episode: 1, Text: "exit"}, {Episode: 2, Text: "x"}})
	if err != nil || got[0].Observation != "1" || got[1].Outcome != EnvError || got[2].Observation != "1" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = w.Step(t.Context(), []Action{{Episode: 0, Text: "x"}, {Episode: 2, Text: "x"}})
	if err != nil || got[0].Observation != "2" || got[1].Observation != "2" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A batch is answered whole when its process dies after the first answers and the source cannot be loaded again.
func TestHalfABatchIsLost(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	lost := 0
	for range 24 {
		w, ok := openHalting(t, p, fmt.Sprintf(halting, atRandom))
		if !ok {
			continue
		}
		got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "slow"}, {Episode: 2, Text: "end"}, {Episode: 1, Text: "exit"}})
		if err != nil || got[2].Outcome != EnvError {
			t.Fatalf("%+v, %v", got, err)
		}
		if got[0].Outcome == Ongoing {
			next, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "end"}})
			if err != nil || next[0].Outcome != EnvError && next[0].Observation != "2" {
				t.Fatalf("%+v, %v", next, err)
			}
			if next[0].Outcome == EnvError {
				lost++
			}
		}
		// All numbers are free again.
		if _, err := w.Reset(t.Context(), []Reset{{Episode: 0}, {Episode: 1}, {Episode: 2}}); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if lost == 0 {
		t.Error("the source could always be loaded again, so that nothing was tested")
	}
}
