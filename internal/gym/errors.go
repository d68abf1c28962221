package gym

import (
	"errors"
	"fmt"
)

// Errors of the platform's side.
var (
	// ErrClosed says that the pool or the worker has been closed.
	ErrClosed = errors.New("the worker is closed")
	// ErrRuntime says that no worker runs the source's language.
	ErrRuntime = errors.New("unknown runtime")
	// ErrMisuse says that the caller broke a rule of the API, for example by two open episodes of one number.
	ErrMisuse = errors.New("misuse of a worker")
)

// SourceError says that a source cannot be used and where it failed: size, parse, load or meta.
type SourceError struct {
	Stage string
	Fault Fault
}

func (e *SourceError) Error() string { return fmt.Sprintf("%s: %s", e.Stage, e.Fault.Error) }

// SandboxError says that a worker cannot be confined as configured; nothing is run then.
type SandboxError struct {
	Tier string
	Err  error
}

func (e *SandboxError) Error() string {
	msg := fmt.Sprintf("the sandbox tier %q does not work here: %v", e.Tier, e.Err)
	if e.Tier != SandboxLimits && e.Tier != SandboxNone {
		msg += `; "limits" can be chosen for sources that you trust`
	}
	return msg
}

func (e *SandboxError) Unwrap() error { return e.Err }

// deathError says how a worker process ended while it was needed.
type deathError struct {
	cause Cause
	text  string
	// final says that there is nothing to try again: processor time, not the clock, was what ran out.
	final bool
}

func (e *deathError) Error() string { return e.text }

// fault is what an episode gets whose call ended its worker.
func (e *deathError) fault() Fault {
	f := Fault{Outcome: EnvError, Cause: e.cause, Error: e.text}
	if e.cause == causeTimeout {
		f.Outcome = Timeout
		f.Nondeterministic = !e.final
	}
	return f
}

// startError says that a process did not get as far as its source. It does not unwrap to the death, which would be blamed
// on the source.
type startError struct{ death *deathError }

func (e *startError) Error() string { return "fresh worker: " + e.death.text }

// unborn marks what happened to a process that has not been sent its source.
func unborn(err error) error {
	var death *deathError
	if errors.As(err, &death) {
		return &startError{death}
	}
	return fmt.Errorf("fresh worker: %w", err)
}

// PackageError says that a source needs a package set that is not configured here.
type PackageError struct{ Package string }

func (e *PackageError) Error() string {
	return fmt.Sprintf("the package set %q is not configured here", e.Package)
}
