package python_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// gymnasiumFolder is the site-packages folder of an environment with gymnasium; make test-envs installs one and says where.
const gymnasiumFolder = "SPADE_TEST_GYMNASIUM"

func startGymnasium(t *testing.T) *pythontest.Driver {
	t.Helper()
	folder := os.Getenv(gymnasiumFolder)
	if folder == "" {
		t.Skip(gymnasiumFolder + " names no folder with gymnasium; make test-envs sets it")
	}
	options, err := json.Marshal(map[string]string{"packages": folder})
	if err != nil {
		t.Fatal(err)
	}
	return pythontest.Start(t, string(options))
}

// corridor is what somebody writes who knows gymnasium and nothing of us.
const corridor = `
import gymnasium
import numpy as np
from gymnasium import spaces


class Corridor(gymnasium.Env):
    return_range = (-1, 1)

    def __init__(self):
        self.observation_space = spaces.Dict({"at": spaces.Discrete(10), "wind": spaces.Box(-1, 1, (2,), np.float32)})
        self.action_space = spaces.Discrete(3, start=-1)

    def observe(self):
        return {"at": np.int64(self.at), "wind": np.array([0.1, self.wind], dtype=np.float32)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.wind = 5, self.np_random.uniform(-1, 1)
        return self.observe(), {"mask": np.array([True, False]), "object": object(), "actions": np.array([1, 2])}

    def step(self, action):
        assert isinstance(action, (int, np.integer))
        self.at += int(action)
        self.wind = self.np_random.uniform(-1, 1)
        done = np.bool_(self.at in (3, 7))
        reward = np.float32(1.0 if self.at == 7 else -1.0 if self.at == 3 else 0.0)
        return self.observe(), reward, done, False, {}
`

func play(t *testing.T, driver *pythontest.Driver, code string, actions ...string) (wire.Started, []wire.Stepped) {
	t.Helper()
	if loaded := driver.Load(code, wire.DefaultLimits()); loaded.Stage != "" {
		t.Fatalf("%+v", loaded)
	}
	started := driver.Reset(wire.Reset{Seed: 1 << 63, WantHint: true})
	var steps []wire.Stepped
	for _, a := range actions {
		if started.Outcome != wire.Ongoing {
			break
		}
		steps = append(steps, driver.Step(wire.Action{Text: a}))
	}
	return started, steps
}

func TestGymnasium(t *testing.T) {
	driver := startGymnasium(t)
	started, steps := play(t, driver, corridor, "1", "jump", "9", "1")
	if started.Outcome != wire.Ongoing || !strings.HasPrefix(started.Observation, `{"at":5,"wind":[0.1,`) {
		t.Fatalf("%+v", started)
	}
	if got := strings.Join(started.Actions, " "); got != "-1 0 1" {
		t.Errorf("actions %s", got)
	}
	if started.Info != `{"actions":["-1","0","1"],"mask":[true,false]}` {
		t.Errorf("info %s", started.Info)
	}
	for i, want := range map[int]string{1: "That is no action: it is not a whole number from -1 to 1.", 2: "That is no action: it is outside"} {
		if !strings.HasPrefix(steps[i].Observation, want) || steps[i].Outcome != wire.Ongoing || steps[i].Reward != 0 {
			t.Errorf("step %d: %+v", i, steps[i])
		}
	}
	if last := steps[3]; last.Outcome != wire.Solved || last.Return != 1 || *last.Verify != 1 {
		t.Errorf("%+v", last)
	}
	again, repeated := play(t, driver, corridor, "1", "jump", "9", "1")
	if again.StateHash != started.StateHash || fmt.Sprint(repeated[3].StateHash) != steps[3].StateHash || steps[0].StateHash == steps[1].StateHash {
		t.Error("the states do not repeat themselves")
	}
	if _, steps := play(t, driver, corridor, "-1", "-1"); steps[1].Outcome != wire.Failed || steps[1].Return != 0 || *steps[1].Verify != 0 {
		t.Errorf("%+v", steps[1])
	}
	masked := strings.Replace(corridor, `"mask": np.array([True, False])`, `"action_mask": np.array([1, 0, 1], dtype=np.int8)`, 1)
	if started, _ := play(t, driver, masked); strings.Join(started.Actions, " ") != "-1 1" {
		t.Errorf("actions %v", started.Actions)
	}
	// At the limit of steps the return is what the range makes of nothing.
	short := strings.Replace(corridor, "return_range = (-1, 1)", `META = {"title": "Corridor", "kind": "game", "max_steps": 2, "return_range": [-1, 1]}`, 1)
	if _, steps := play(t, driver, short, "0", "0"); steps[1].Outcome != wire.Failed || !steps[1].Truncated || steps[1].Return != 0.5 {
		t.Errorf("%+v", steps[1])
	}
	// What is paid on the way counts once.
	paying := strings.Replace(corridor, "np.float32(1.0 if", "np.float32(0.25 * action if not done else 0.25 if", 1)
	if _, steps := play(t, driver, paying, "1", "1"); steps[0].Reward != 0.125 || steps[1].Outcome != wire.Failed || steps[1].Return != 0.75 || *steps[1].Verify != 0.75 {
		t.Errorf("%+v", steps)
	}
	narrow := strings.Replace(corridor, "return_range = (-1, 1)", "", 1)
	if _, steps := play(t, driver, narrow, "-1", "-1"); steps[1].Cause != wire.CauseReward {
		t.Errorf("%+v", steps[1])
	}
}

// Actions of every space are read from text, and what is none is told.
func TestGymnasiumSpaces(t *testing.T) {
	driver := startGymnasium(t)
	const source = `
import gymnasium
from gymnasium import spaces
import numpy as np


class Echo(gymnasium.Env):
    def __init__(self):
        self.action_space = %s
        self.observation_space = spaces.Text(1000, charset=frozenset(map(chr, range(128))))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "say", {}

    def step(self, action):
        assert self.action_space.contains(action)
        return repr(action), 0, False, False, {}
`
	for _, tt := range []struct{ space, action, want string }{
		{"spaces.Discrete(4)", " 3 ", "np.int64(3)"},
		{"spaces.Discrete(4)", "3.0", "That is no action"},
		{"spaces.Discrete(4)", "true", "That is no action"},
		{"spaces.Discrete(4)", "99999999999999999999", "That is no action"},
		{"spaces.Discrete(4)", "-1", "That is no action"},
		{"spaces.Discrete(4)", "", "That is no action"},
		{"spaces.Discrete(4)", "\x00", "That is no action"},
		{"spaces.MultiDiscrete([3, 2])", "[2, 1]", "array([2, 1]"},
		{"spaces.MultiDiscrete([3, 2])", "[3, 1]", "That is no action: it is outside"},
		{"spaces.MultiDiscrete([3, 2])", "[1]", "That is no action: its shape is [1]"},
		{"spaces.MultiDiscrete([3, 2])", "[1, [2]]", "That is no action"},
		{"spaces.MultiDiscrete([3, 2])", "[0.5, 1]", "That is no action: it is no whole number"},
		{"spaces.MultiBinary(3)", "[0, 1, 1]", "array([0, 1, 1]"},
		{"spaces.MultiBinary(3)", "[0, 1, 2]", "That is no action"},
		{"spaces.Box(0, 1, (2,))", "[0.5, 1]", "array([0.5, 1. ]"},
		{"spaces.Box(0, 1, (2,))", `["a", 1]`, "That is no action"},
		{"spaces.Box(0, 1, (2,))", "[0.5, 2]", "That is no action"},
		{"spaces.Box(0, 1, (2,))", "[NaN, 2]", "That is no action"},
		{"spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1, (1,))])", "[1, [0.5]]", "(np.int64(1), array([0.5]"},
		{"spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])", "[1]", "That is no action"},
		{`spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Text(5)})`, `{"b": "x", "a": 1}`, "{'a': np.int64(1), 'b': 'x'}"},
		{`spaces.Dict({"a": spaces.Discrete(2)})`, `{"c": 1}`, "That is no action"},
		{`spaces.Dict({"a": spaces.Discrete(2)})`, `[1]`, "That is no action"},
		{"spaces.Text(5)", "hello", "'hello'"},
		{"spaces.Text(5)", "hello!", "That is no action"},
	} {
		started, steps := play(t, driver, fmt.Sprintf(source, tt.space), tt.action)
		if started.Outcome != wire.Ongoing || steps[0].Outcome != wire.Ongoing || !strings.HasPrefix(steps[0].Observation, tt.want) {
			t.Errorf("%s, %q: %+v %+v", tt.space, tt.action, started.Fault, steps)
		}
	}
	for _, space := range []string{"spaces.Box(0, 255, (210, 160, 3))", "spaces.Graph(spaces.Discrete(2), None)", "None"} {
		if started, _ := play(t, driver, fmt.Sprintf(source, space)); started.Outcome != wire.EnvError {
			t.Errorf("%s: %+v", space, started)
		}
	}
}
