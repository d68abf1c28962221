package interp

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"go.starlark.net/starlark"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// pulse is how many interpreter steps pass between two looks at the call depth. A call takes more than three steps, so
// that the depth can pass its limit by less than a third of this.
const pulse = 64

// caller runs code of the environment under a budget of interpreter steps and turns every way to go wrong into a fault.
// Steps are counted by the interpreter, so the same call ends at the same place on every machine.
type caller struct {
	thread *starlark.Thread
	depth  int
	limit  uint64
	// cause says why the caller itself cancelled the call.
	cause wire.Cause
}

func (c *caller) start(limit uint64) *starlark.Thread {
	if c.thread == nil {
		c.thread = &starlark.Thread{
			Name:       "env",
			Print:      func(*starlark.Thread, string) {}, // output is not part of an environment's contract
			OnMaxSteps: c.check,
		}
	}
	c.limit, c.cause = limit, wire.CauseNone
	c.thread.Steps = 0
	c.thread.Uncancel()
	c.thread.SetMaxExecutionSteps(min(pulse, limit))
	return c.thread
}

// check runs every pulse of steps.
func (c *caller) check(t *starlark.Thread) {
	switch {
	case t.Steps >= c.limit:
		c.cause = wire.CauseBudget
		t.Cancel(fmt.Sprintf("more than %d steps in one call", c.limit))
	case t.CallStackDepth() > c.depth:
		c.cause = wire.CauseRecursion
		t.Cancel(fmt.Sprintf("calls nested deeper than %d", c.depth))
	default:
		t.SetMaxExecutionSteps(min(t.Steps+pulse, c.limit))
	}
}

func (c *caller) load(p *starlark.Program, given starlark.StringDict, limit uint64) (globals starlark.StringDict, f wire.Fault) {
	defer c.recovered(&f)
	globals, err := p.Init(c.start(limit), given)
	globals.Freeze()
	return globals, c.fault(err)
}

func (c *caller) call(limit uint64, fn starlark.Callable, args ...starlark.Value) (v starlark.Value, f wire.Fault) {
	defer c.recovered(&f)
	v, err := starlark.Call(c.start(limit), fn, args, nil)
	return v, c.fault(err)
}

// recovered is deferred around the environment's code. A panic of the interpreter leaves its thread in no known state, so
// the thread is thrown away; what cannot be recovered from ends the process, and the platform sees that.
func (c *caller) recovered(f *wire.Fault) {
	p := recover()
	if p == nil {
		return
	}
	c.thread = nil
	cause := wire.CauseCrashed
	var rt runtime.Error
	if err, ok := p.(error); ok && errors.As(err, &rt) && strings.Contains(rt.Error(), "out of range") {
		cause = wire.CauseMemory // makeslice: more than any machine has
	}
	*f = envFault(cause, fmt.Sprintf("the interpreter failed: %v", p))
}

func (c *caller) fault(err error) wire.Fault {
	if err == nil {
		return wire.Fault{}
	}
	cause := c.cause
	if cause == wire.CauseNone {
		cause = wire.CauseException
	}
	return envFault(cause, errorText(err))
}

// errorText is the traceback: it holds the environment's own frames and nothing else, for there are no others.
func errorText(err error) string {
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		return eval.Backtrace()
	}
	return err.Error()
}

func envFault(cause wire.Cause, text string) wire.Fault {
	return wire.Fault{Outcome: wire.EnvError, Cause: cause, Error: trim(text)}
}

// trim keeps the head and the tail of a long text: the head says where, the tail says what.
func trim(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= wire.MaxError {
		return s
	}
	const half = wire.MaxError/2 - 8
	return strings.ToValidUTF8(s[:half], "") + "\n…\n" + strings.ToValidUTF8(s[len(s)-half:], "")
}
