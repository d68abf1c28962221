package gate

import (
	"reflect"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

// A Starlark source cannot behave differently in two workers, so what the stage compares is tested on answers made up.
func TestEveryDifferenceCounts(t *testing.T) {
	one, two := 1.0, 0.5
	base := gym.Stepped{Observation: "o", Info: "{}", Reward: 0.25, StateHash: "aa", Verify: &one}
	same := base
	same.Verify = &[]float64{1}[0]
	if what := differs(base, same); what != "" {
		t.Errorf("equal answers differ in %s", what)
	}
	for name, change := range map[string]func(*gym.Stepped){
		"observation": func(s *gym.Stepped) { s.Observation = "p" },
		"info":        func(s *gym.Stepped) { s.Info = `{"a":1}` },
		"reward":      func(s *gym.Stepped) { s.Reward = 0.5 },
		"state":       func(s *gym.Stepped) { s.StateHash = "bb" },
		"terminated":  func(s *gym.Stepped) { s.Terminated = true },
		"truncated":   func(s *gym.Stepped) { s.Truncated = true },
		"verdict":     func(s *gym.Stepped) { s.Verify = &two },
		"no verdict":  func(s *gym.Stepped) { s.Verify = nil },
		"outcome":     func(s *gym.Stepped) { s.Outcome = gym.Failed },
		"error":       func(s *gym.Stepped) { s.Error = "e" },
	} {
		other := base
		if change(&other); reflect.DeepEqual(other, base) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if differs(base, other) == "" || differs(other, base) == "" {
			t.Errorf("%s: no difference is seen", name)
		}
	}
	start := gym.Started{Observation: "o", Info: "{}", StateHash: "aa", Hint: "h"}
	for name, change := range map[string]func(*gym.Started){
		"observation": func(s *gym.Started) { s.Observation = "p" },
		"info":        func(s *gym.Started) { s.Info = `{"a":1}` },
		"state":       func(s *gym.Started) { s.StateHash = "bb" },
		"hint":        func(s *gym.Started) { s.Hint = "i" },
		"solution":    func(s *gym.Started) { s.Solution = []string{"a"} },
		"outcome":     func(s *gym.Started) { s.Outcome = gym.EnvError },
	} {
		other := start
		change(&other)
		if differsAtStart(start, other, true) == "" || differsAtStart(start, start, true) != "" {
			t.Errorf("%s at the start: no difference is seen", name)
		}
	}
}
