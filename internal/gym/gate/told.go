package gate

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/seed256f7767/spade/internal/gym"
)

// mostSteps is what META may ask for at most.
const mostSteps = 1000

var isHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// metaFault checks what a worker tells of META. An environment's code shares its process with the code that checks it, so
// whatever a worker tells may have been made up; nothing of it is believed that can be checked from outside.
func metaFault(m gym.Meta) string {
	switch {
	case m.Title == "" || len(m.Title) > 200:
		return "the worker tells of a title that META cannot have"
	case m.Kind != "reasoning" && m.Kind != "tools" && m.Kind != "game":
		return "the worker tells of a kind that META cannot have"
	case m.MaxSteps < 1 || m.MaxSteps > mostSteps:
		return "the worker tells of a max_steps that META cannot have"
	}
	return ""
}

// toldFault is the first good answer whose form no honest worker gives. That answers agree with each other, the worker's
// host has checked.
func (s *session) toldFault() string {
	for _, t := range s.all {
		if !t.begun || t.first.Outcome != gym.Ongoing {
			continue
		}
		if reason := untrue(t.first.StateHash, t.first.Info); reason != "" {
			return fmt.Sprintf("%s, after reset: %s", t.name, reason)
		}
		for i, a := range t.steps {
			if reason := untrue(a.StateHash, a.Info); reason != "" && stageOf(a.Fault) == "" {
				return fmt.Sprintf("%s, step %d: %s", t.name, i, reason)
			}
		}
	}
	return ""
}

func untrue(hash, info string) string {
	var fields map[string]json.RawMessage
	switch {
	case !isHash.MatchString(hash):
		return "the worker tells of a state hash that is none"
	case json.Unmarshal([]byte(info), &fields) != nil || fields == nil:
		return "the worker tells of an info that is no dictionary"
	}
	return ""
}
