package gate

import (
	"fmt"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// terminates wants every reference solution to terminate; without one, some episode at least must. In no episode may the
// two ends be confused: what is solved terminates, what is cut short is truncated, and nothing is both.
func (s *session) terminates() string {
	for _, t := range s.of(reference) {
		if s.meta.HasSolve && t.stuck {
			return fmt.Sprintf("%s: its %d actions do not end the episode", t.name, len(t.actions))
		}
	}
	for _, t := range s.all {
		if reason := t.confusedEnd(); reason != "" {
			return fmt.Sprintf("%s, step %d: %s", t.name, len(t.steps)-1, reason)
		}
	}
	if !s.meta.HasSolve {
		return s.someTerminates()
	}
	for _, t := range s.of(reference) {
		if last, ok := t.last(); !ok || !last.Terminated && stageOf(last.Fault) == "" {
			return fmt.Sprintf("%s: truncated at step %d of at most %d", t.name, len(t.steps), s.meta.MaxSteps)
		}
	}
	return ""
}

func (s *session) someTerminates() string {
	for _, t := range s.all {
		if last, ok := t.last(); ok && last.Terminated {
			return ""
		}
	}
	return fmt.Sprintf("no episode terminates within max_steps %d", s.meta.MaxSteps)
}

func (t *trajectory) confusedEnd() string {
	last, ok := t.last()
	switch {
	case !ok || stageOf(last.Fault) != "":
		return ""
	case last.Terminated && last.Truncated:
		return "both terminated and truncated; an episode that came to its end is terminated, one that was cut short is truncated"
	case !last.Terminated && last.Return >= 1-wire.Tolerance && saysSolved(last):
		return fmt.Sprintf("truncated with a return of %v, and verify says %v; what is solved must terminate", last.Return, *last.Verify)
	}
	return ""
}

func saysSolved(a gym.Stepped) bool { return a.Verify != nil && *a.Verify >= 1-wire.Tolerance }

// verified wants a verdict on every episode that ended well, and no quarrel between verdict and return. A verdict of 1 on
// an episode that was cut short is such a quarrel too: else a verify that always says 1 would pass wherever wrong answers
// are never told to be wrong.
func (s *session) verified() string {
	if f := s.fault(StageVerify); f != "" {
		return f
	}
	for _, t := range s.all {
		last, ok := t.last()
		if !ok || t.stuck || stageOf(last.Fault) != "" {
			continue
		}
		if last.Verify == nil {
			return t.name + ": verify said nothing"
		}
		if !last.Terminated && saysSolved(last) {
			return fmt.Sprintf("%s: verify says %v of an episode that was cut short with a return of %v", t.name, *last.Verify, last.Return)
		}
	}
	return ""
}
