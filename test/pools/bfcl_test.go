package pools_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

// TestBFCLGroundTruth plays the ground truth of all 200 tasks at once in one worker: state and response checks pass.
func TestBFCLGroundTruth(t *testing.T) {
	w := open(t, start(t), "bfcl:multi_turn_base")
	const tasks = 200
	resets := make([]gym.Reset, tasks)
	for i := range resets {
		resets[i] = gym.Reset{Episode: i, Seed: uint64(i), WantSolve: true} //nolint:gosec // small
	}
	started, err := w.Reset(t.Context(), resets)
	if err != nil {
		t.Fatal(err)
	}
	solved := 0
	for turn := 0; ; turn++ {
		var batch []gym.Action
		for _, s := range started {
			if turn < len(s.Solution) {
				batch = append(batch, gym.Action{Episode: s.Episode, Text: s.Solution[turn]})
			}
		}
		if len(batch) == 0 {
			break
		}
		stepped, err := w.Step(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stepped {
			switch {
			case s.Outcome == gym.Solved && s.Terminated && s.Verify != nil && *s.Verify == 1:
				solved++
			case s.Outcome != gym.Ongoing:
				t.Errorf("task %d: %+v", s.Episode, s)
			}
		}
	}
	if solved != tasks {
		t.Errorf("%d of %d tasks are solved by their ground truth", solved, tasks)
	}
}

// call is one that changes nothing in task 0, whose API is a file system.
const call = `{"name": "ls", "arguments": {}}`

func TestBFCLStepCap(t *testing.T) {
	w := open(t, start(t), "bfcl:multi_turn_base_0")
	reset(t, w, gym.Reset{})
	for i := range 20 {
		if s := step(t, w, call); s.Outcome != gym.Ongoing {
			t.Fatalf("step %d: %+v", i, s)
		}
	}
	if s := step(t, w, call); !s.Truncated || s.Terminated || s.Outcome != gym.Failed || s.Verify == nil || *s.Verify != 0 {
		t.Errorf("after the 21st call of a turn: %+v", s)
	}
}

func TestBFCLTurns(t *testing.T) {
	w := open(t, start(t), "bfcl:multi_turn_base_0")
	first := reset(t, w, gym.Reset{WantHint: true})
	if !strings.Contains(first.Observation, "Move 'final_report.pdf'") || !strings.Contains(first.Observation, `"name": "mkdir"`) {
		t.Errorf("first observation:\n%s", first.Observation)
	}
	if !strings.Contains(first.Hint, "turn 1: cd given folder=...; mkdir given dir_name=...") {
		t.Errorf("hint:\n%s", first.Hint)
	}
	if s := step(t, w, `[{"name": "cd", "arguments": {"folder": "document"}}, {"name": "pwd", "arguments": {}}]`); !strings.Contains(s.Observation, "document") {
		t.Errorf("two calls in one action: %q", s.Observation)
	}
	for _, odd := range []string{
		`{"name": "no_such_tool", "arguments": {}}`, `{"name": "cd", "arguments": {"folder": "nowhere"}}`,
		`{"name": "cd", "arguments": {"fold": 1}}`, `{"name": "exit", "arguments": {}}`,
	} {
		if s := step(t, w, odd); s.Outcome != gym.Ongoing || !strings.Contains(strings.ToLower(s.Observation), "error") && !strings.Contains(s.Observation, "No such") {
			t.Errorf("%s: %+v", odd, s)
		}
	}
	if s := step(t, w, "I am done with that."); !strings.Contains(s.Observation, "budget analysis") || s.Outcome != gym.Ongoing {
		t.Errorf("the next request: %+v", s)
	}
	for range 2 {
		step(t, w, `{"name": 7}`) // a call that is none ends the turn as well
	}
	if s := step(t, w, ""); !s.Terminated || s.Outcome != gym.Failed || s.Reward != 0 || s.Verify == nil || *s.Verify != 0 {
		t.Errorf("the end: %+v", s)
	}
}
