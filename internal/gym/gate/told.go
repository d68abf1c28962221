package gate

import (
	"encoding/json"
	"fmt"
	"math"
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

// toldFault is the first answer that contradicts itself or the answers before it.
func (s *session) toldFault() string {
	for _, t := range s.all {
		if !t.begun || t.first.Outcome != gym.Ongoing {
			continue
		}
		if reason := untrue(t.first.StateHash, t.first.Info); reason != "" {
			return fmt.Sprintf("%s, after reset: %s", t.name, reason)
		}
		total := 0.0
		for i, a := range t.steps {
			total += a.Reward
			if reason := s.contradiction(a, total, i+1); reason != "" {
				return fmt.Sprintf("%s, step %d: %s", t.name, i, reason)
			}
		}
	}
	return ""
}

// untrue checks what comes with every good answer.
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

// contradiction checks the answer to the n-th step, whose rewards add up to total.
func (s *session) contradiction(a gym.Stepped, total float64, n int) string {
	if stageOf(a.Fault) != "" {
		return "" // judged by its own stage
	}
	if reason := untrue(a.StateHash, a.Info); reason != "" {
		return reason
	}
	ended := a.Terminated || a.Truncated
	agrees := a.Verify != nil && math.Abs(a.Return-*a.Verify) <= tolerance
	solved := a.Terminated && a.Return >= 1-tolerance
	switch {
	case math.IsNaN(a.Reward) || math.IsInf(a.Reward, 0) || a.Return != total:
		return fmt.Sprintf("the worker tells of a return of %v, the rewards add up to %v", a.Return, total)
	case a.Outcome == gym.Ongoing && (ended || n >= s.meta.MaxSteps):
		return "the worker tells of an episode that goes on after its end"
	case a.Outcome != gym.Ongoing && !ended:
		return "the worker tells of an outcome before the end"
	case ended && !(a.Return >= -tolerance && a.Return <= 1+tolerance):
		return fmt.Sprintf("the worker takes a return of %v, outside [0, 1]", a.Return)
	case a.Terminated && a.Verify != nil && !agrees:
		return fmt.Sprintf("the worker takes a return of %v with a verdict of %v", a.Return, *a.Verify)
	case ended && solved != (a.Outcome == gym.Solved):
		return fmt.Sprintf("the worker tells of the outcome %q with a return of %v", a.Outcome, a.Return)
	}
	return ""
}
