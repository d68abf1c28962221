package gym

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// believed is an answer as far as it can be believed. The code of an environment shares its process with the code that
// judges it, so what a worker tells of returns, ends, verdicts and outcomes must not contradict itself or the answers before.
func (h *history) believed(a Stepped, maxSteps int) Stepped {
	var reason string
	switch a.Outcome {
	case Ongoing:
		reason = cmp.Or(h.sum(a), h.ongoing(a, maxSteps))
	case Solved, Failed:
		reason = cmp.Or(h.sum(a), ended(a))
	default:
		return h.faulty(a)
	}
	if reason == "" {
		return a
	}
	return Stepped{Episode: a.Episode, Fault: disbelieved(reason, a.Fault)}
}

// disbelieved stands for what a worker told.
func disbelieved(reason string, told Fault) Fault {
	return Fault{Outcome: EnvError, Cause: wire.CauseProtocol, Error: reason, Nondeterministic: told.Nondeterministic}
}

func (h *history) ongoing(a Stepped, maxSteps int) string {
	if a.Terminated || a.Truncated || len(h.actions)+1 >= maxSteps {
		return "the worker tells of an episode that goes on after its end"
	}
	return ""
}

func ended(a Stepped) string {
	switch {
	case !a.Terminated && !a.Truncated:
		return "the worker tells of an outcome before the end"
	case !isScore(a.Return):
		return fmt.Sprintf("the worker takes a return of %v, outside [0, 1]", a.Return)
	case a.Verify == nil:
		return "the worker tells of an outcome without a verdict"
	case !isScore(*a.Verify):
		return fmt.Sprintf("the worker tells of a verdict of %v, outside [0, 1]", *a.Verify)
	case a.Terminated && math.Abs(a.Return-*a.Verify) > wire.Tolerance:
		return fmt.Sprintf("the worker takes a return of %v with a verdict of %v", a.Return, *a.Verify)
	case (a.Terminated && a.Return >= 1-wire.Tolerance) != (a.Outcome == Solved):
		return fmt.Sprintf("the worker tells of the outcome %q with a return of %v", a.Outcome, a.Return)
	}
	return ""
}

func (h *history) sum(a Stepped) string {
	if total := h.total + a.Reward; a.Return != total || !finite(total) {
		return fmt.Sprintf("the worker tells of a return of %v, the rewards add up to %v", a.Return, total)
	}
	return ""
}

// faulty keeps what is no number out of the numbers of an episode that counts for nothing.
func (h *history) faulty(a Stepped) Stepped {
	if !finite(a.Reward) {
		a.Reward = 0
	}
	if !finite(a.Return) {
		a.Return = h.total
	}
	if a.Verify != nil && !finite(*a.Verify) {
		a.Verify = nil
	}
	return a
}

// isScore is false of what is no number, too.
func isScore(v float64) bool { return v >= -wire.Tolerance && v <= 1+wire.Tolerance }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
