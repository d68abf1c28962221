package gym

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/sandbox"
)

//go:embed selftest.py
var pythonProbe string

// holds is what the probe says when nothing was possible.
const holds = "it holds"

//go:embed hog.py
var pythonHog string

// testPython proves the sandbox of the Python runtime before anything untrusted runs in it, by the means that an
// environment has, and returns the layers in force.
func (p *Pool) testPython(ctx context.Context) (sandbox.Layer, error) {
	have, title, err := p.probePython(ctx)
	var group *groupError
	if errors.As(err, &group) {
		p.python.withoutGroups(group)
		have, title, err = p.probePython(ctx)
	}
	tier := p.tierName(RuntimePython, have)
	switch {
	case err != nil:
		return 0, p.refusedPython(err)
	case p.cfg.Sandbox == SandboxNone:
		return have, nil
	case title != holds:
		return 0, &SandboxError{Tier: tier, Err: fmt.Errorf("it does not hold: an environment could %s", title)}
	}
	if t := p.tierOf(RuntimePython); !have.Has(t.require) {
		return 0, &SandboxError{Tier: tier, Err: fmt.Errorf("layers are missing: %s", t.require&^have)}
	}
	meta, _, err := p.tryPython(ctx, p.hogging())
	var refused *SourceError
	switch {
	case err == nil:
		return 0, &SandboxError{Tier: tier, Err: fmt.Errorf("a memory hog lives: %+v", meta)}
	case errors.As(err, &refused) && refused.Fault.Cause == causeMemory:
		return have, nil
	case errors.As(err, &refused):
		return 0, &SandboxError{Tier: tier, Err: fmt.Errorf("a memory hog ends by %s: %w", refused.Fault.Cause, err)}
	}
	return 0, err
}

// hogging is a source that wants twice the memory that an environment may have.
func (p *Pool) hogging() string {
	return fmt.Sprintf("ENOUGH = %d\n%s", 2*(p.cfg.MemoryBytes+pythonBase), pythonHog)
}

// refusedPython makes a SandboxError of what says that a layer is missing.
func (p *Pool) refusedPython(err error) error {
	var refused *refusal
	var missing *sandbox.MissingError
	var source *SourceError
	var unborn *startError
	if errors.As(err, &refused) || errors.As(err, &missing) || errors.As(err, &source) || errors.As(err, &unborn) {
		return &SandboxError{Tier: p.tierName(RuntimePython, everyLayer), Err: err}
	}
	return fmt.Errorf("start the first Python worker: %w", err)
}

// probePython lets an environment try its cage, with a file of ours as the canary.
func (p *Pool) probePython(ctx context.Context) (have sandbox.Layer, title string, err error) {
	canary, err := os.CreateTemp("", "spade-canary-")
	if err != nil {
		return 0, "", fmt.Errorf("canary: %w", err)
	}
	defer func() { err = errors.Join(err, canary.Close(), os.Remove(canary.Name())) }()
	if err := canary.Chmod(0o644); err != nil { // it is the root that must hide it, not its mode
		return 0, "", fmt.Errorf("canary: %w", err)
	}
	t := p.tierOf(RuntimePython)
	head := fmt.Sprintf("CANARY, PARENT, ROOT, CONFINED, TOO_MUCH = %s, %d, %s, %s, %d\n", strconv.QuoteToASCII(canary.Name()), os.Getpid(),
		pythonBool(os.Geteuid() == 0), pythonBool(t.require.Has(sandbox.Seccomp)), p.cfg.MemoryBytes+2*pythonBase)
	meta, have, err := p.tryPython(ctx, head+pythonProbe)
	return have, meta.Title, err
}

// fromOutside adds what is seen of a process from outside to what its probe says.
func fromOutside(proc *proc, title string) (string, error) {
	seen, err := sandbox.Inspect(proc.cmd.Process.Pid, proc.layers)
	if err != nil || len(seen) == 0 {
		return title, err
	}
	if title != holds {
		seen = append(seen, title)
	}
	return strings.Join(seen, ", "), nil
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// tryPython loads a source of ours into a process that takes no worker's place.
func (p *Pool) tryPython(ctx context.Context, code string) (Meta, sandbox.Layer, error) {
	proc, err := p.takeUntested(ctx, launch{runtime: RuntimePython})
	if err != nil {
		return Meta{}, 0, err
	}
	defer proc.close() //nolint:errcheck // it was only to be tried
	meta, err := p.loadInto(ctx, proc, Source{Runtime: RuntimePython, Code: code})
	if err == nil {
		meta.Title, err = fromOutside(proc, meta.Title)
	}
	var death *deathError
	if errors.As(err, &death) {
		err = &SourceError{Stage: "load", Fault: death.fault()}
	}
	return meta, proc.layers, err
}
