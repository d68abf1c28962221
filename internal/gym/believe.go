package gym

import (
	"fmt"
	"math"
)

// tolerance is how far a return may be from a score and still be equal to it, and how far outside [0, 1] it may lie.
const tolerance = 1e-6

// contradiction says in what an answer contradicts itself or the answers before it; empty: in nothing. The code of an
// environment shares its process with the code that judges it, so what a worker tells of returns, ends, verdicts and
// outcomes is not believed where it can be checked.
func (h *history) contradiction(a Stepped, maxSteps int) string {
	if a.Outcome != Ongoing && a.Outcome != Solved && a.Outcome != Failed {
		return ""
	}
	total, ended := h.total+a.Reward, a.Terminated || a.Truncated
	solved := a.Terminated && a.Return >= 1-tolerance
	switch {
	case math.IsNaN(a.Reward) || math.IsInf(a.Reward, 0) || a.Return != total:
		return fmt.Sprintf("the worker tells of a return of %v, the rewards add up to %v", a.Return, total)
	case a.Outcome == Ongoing && (ended || len(h.actions)+1 >= maxSteps):
		return "the worker tells of an episode that goes on after its end"
	case a.Outcome == Ongoing:
		return ""
	case !ended:
		return "the worker tells of an outcome before the end"
	case !(a.Return >= -tolerance && a.Return <= 1+tolerance):
		return fmt.Sprintf("the worker takes a return of %v, outside [0, 1]", a.Return)
	case a.Verify == nil:
		return "the worker tells of an outcome without a verdict"
	case a.Terminated && !(math.Abs(a.Return-*a.Verify) <= tolerance):
		return fmt.Sprintf("the worker takes a return of %v with a verdict of %v", a.Return, *a.Verify)
	case solved != (a.Outcome == Solved):
		return fmt.Sprintf("the worker tells of the outcome %q with a return of %v", a.Outcome, a.Return)
	}
	return ""
}
