package gate

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/seed256f7767/spade/internal/gym"
)

var isHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

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
