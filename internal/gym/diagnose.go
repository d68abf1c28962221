package gym

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

const (
	causeMemory    = wire.CauseMemory
	causeTimeout   = wire.CauseTimeout
	causeCrashed   = wire.CauseCrashed
	causeProtocol  = wire.CauseProtocol
	causeRecursion = wire.CauseRecursion
)

// memoryText is the same whether the kernel's limit or the watchdog was first, for it is told in events.
const memoryText = "the worker reached its memory limit"

// diagnose says why a worker ended that nobody killed on purpose. The caller holds mu, and the process has ended.
func (p *proc) diagnose() *deathError {
	state, last := p.cmd.ProcessState, string(p.output)
	status, _ := state.Sys().(syscall.WaitStatus)
	signal := syscall.Signal(-1)
	if status.Signaled() {
		signal = status.Signal()
	}
	used := state.UserTime() + state.SystemTime()
	switch {
	case p.oom, p.start.python && state.ExitCode() == wire.ExitMemory:
		return &deathError{cause: causeMemory, text: memoryText}
	case !p.start.python && goDied(last) != nil:
		return goDied(last)
	case signal == syscall.SIGXCPU, signal == syscall.SIGKILL && p.start.cpu > 0 && used >= p.start.cpu:
		// The first process of a namespace is not sent the signal that announces the limit.
		return &deathError{cause: causeTimeout, text: "the worker used up its CPU time", final: p.start.python}
	case signal == syscall.SIGSYS:
		return &deathError{cause: causeCrashed, text: "the worker made a system call that the sandbox forbids"}
	case status.Signaled():
		return &deathError{cause: causeCrashed, text: "the worker was ended by signal " + signal.String()}
	case !p.start.python && p.start.memory > 0 && (runtimeDied(last) || peakRSS(state) > p.start.memory/4*3):
		// The Starlark interpreter's own runtime does not check each of its requests for memory: its collector crashes on
		// some. What it says then differs from one time to the next, and reasons are part of events. How much memory a Python
		// process held differs by machine, and its exits are the environment's own doing.
		return &deathError{cause: causeMemory, text: memoryText}
	}
	return &deathError{cause: causeCrashed, text: fmt.Sprintf("the worker ended with status %d", state.ExitCode())}
}

// goDied reads the last words of a worker in Go. Those of an interpreter may be the environment's.
func goDied(last string) *deathError {
	switch {
	case strings.Contains(last, "out of memory"), strings.Contains(last, "cannot allocate memory"):
		return &deathError{cause: causeMemory, text: memoryText}
	case strings.Contains(last, "stack overflow"), strings.Contains(last, "stack exceeds"):
		return &deathError{cause: causeRecursion, text: "the interpreter's stack overflowed"}
	}
	return nil
}

// runtimeDied reports whether the last words are those of a Go runtime that gave up, which at a limit on memory is what it
// does. A panic of the interpreter never gets this far: the worker recovers from it.
func runtimeDied(last string) bool {
	return strings.Contains(last, "fatal error: ") || strings.Contains(last, "SIGSEGV")
}
