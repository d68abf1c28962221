package interp

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// stateBytes bounds a state when it is only compared; it was within its own limit when it was taken.
const stateBytes = math.MaxInt32

// onCopy calls a function that must leave the state alone, with a copy of it, and compares the copy afterwards.
func (e *Env) onCopy(ep *episode, name string, fn starlark.Callable) (starlark.Value, wire.Fault) {
	before := canonicalizer{limit: stateBytes, copying: true}
	copied, err := before.value(ep.state, 0)
	if err != nil {
		return nil, faultOf("the state", err)
	}
	v, fault := e.calls.call(e.limits.CallSteps, fn, copied)
	if fault.Outcome != wire.Ongoing {
		return nil, fault
	}
	after, err := Canonical(copied, stateBytes)
	if err != nil || after != string(before.buf) {
		return nil, envFault(wire.CauseMutation, name+" changed the state")
	}
	return v, wire.Fault{}
}

func (e *Env) takeHint(ep *episode) (string, wire.Fault) {
	v, fault := e.onCopy(ep, "hint", e.hint)
	if fault.Outcome != wire.Ongoing {
		return "", fault
	}
	s, err := plainText(v, e.limits.Hint)
	if err != nil {
		return "", faultOf("the hint", err)
	}
	return s, wire.Fault{}
}

func (e *Env) takeSolution(ep *episode) ([]string, wire.Fault) {
	v, fault := e.onCopy(ep, "solve", e.solve)
	if fault.Outcome != wire.Ongoing {
		return nil, fault
	}
	actions, err := texts(v, e.limits.Action)
	if err != nil {
		return nil, faultOf("the solution", err)
	}
	return actions, wire.Fault{}
}

// finish judges an episode that ended. It is solved when it terminated with a return of 1; truncation is never a
// solution. A return outside [0, 1] is the environment's fault; a verification that fails, or that contradicts the return
// of a terminated episode, is the verifier's.
func (e *Env) finish(ep *episode, out *wire.Stepped) {
	if !(out.Return >= -wire.Tolerance && out.Return <= 1+wire.Tolerance) { // NaN included
		out.Fault = envFault(wire.CauseReward, fmt.Sprintf("the rewards add up to %v, outside [0, 1]", out.Return))
		return
	}
	score, fault := e.score(ep)
	if fault.Outcome != wire.Ongoing {
		fault.Outcome = wire.VerifierError
		out.Fault = fault
		return
	}
	out.Verify = &score
	if out.Terminated && math.Abs(out.Return-score) > wire.Tolerance {
		out.Fault = wire.Fault{
			Outcome: wire.VerifierError, Cause: wire.CauseMismatch,
			Error: fmt.Sprintf("the rewards add up to %v and verify says %v", out.Return, score),
		}
		return
	}
	out.Outcome = wire.Failed
	if out.Terminated && out.Return >= 1-wire.Tolerance {
		out.Outcome = wire.Solved
	}
}

func (e *Env) score(ep *episode) (float64, wire.Fault) {
	v, fault := e.onCopy(ep, "verify", e.verify)
	if fault.Outcome != wire.Ongoing {
		return 0, fault
	}
	if _, isBool := v.(starlark.Bool); isBool {
		return 0, envFault(wire.CauseShape, "verify returned a bool, want a number")
	}
	score, ok := starlark.AsFloat(v)
	if !ok {
		return 0, envFault(wire.CauseShape, fmt.Sprintf("verify returned a %s, want a number", v.Type()))
	}
	if math.IsNaN(score) || score < -wire.Tolerance || score > 1+wire.Tolerance {
		return 0, envFault(wire.CauseReward, fmt.Sprintf("verify returned %v, outside [0, 1]", score))
	}
	return score, wire.Fault{}
}
