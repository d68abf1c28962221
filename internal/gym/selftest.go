package gym

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// hog wants two gigabytes in a handful of interpreter steps.
const hog = "x = [1] * (1 << 27)\n"

// selfTest proves the sandbox on this machine before anything untrusted runs.
func (p *Pool) selfTest(ctx context.Context) error {
	if err := p.probe(ctx); err != nil {
		return err
	}
	if p.cfg.Sandbox == SandboxNone {
		return nil
	}
	w, err := p.Open(ctx, Source{Runtime: RuntimeStarlark, Code: hog})
	var refused *SourceError
	switch {
	case err == nil:
		return errors.Join(&SandboxError{Tier: p.Tier(), Err: errors.New("a memory hog lives")}, w.Close())
	case !errors.As(err, &refused):
		return err
	case refused.Fault.Cause != causeMemory:
		return &SandboxError{Tier: p.Tier(), Err: fmt.Errorf("a memory hog ends by %s: %w", refused.Fault.Cause, err)}
	}
	return nil
}

// probe lets a fresh worker try its cage from the inside.
func (p *Pool) probe(ctx context.Context) error {
	proc, err := p.take(ctx, launch{runtime: RuntimeStarlark})
	if err != nil {
		var refused *refusal
		if errors.As(err, &refused) {
			return &SandboxError{Tier: p.Tier(), Err: refused}
		}
		return fmt.Errorf("start the first worker: %w", err)
	}
	defer proc.close() //nolint:errcheck // a worker that only was to be probed
	defer proc.interruptible(ctx)()
	if err := proc.send(ctx, wire.AppendHeader(nil, proc.nonce, wire.KindProbe), greetTimeout); err != nil {
		return err
	}
	kind, body, err := proc.recv(ctx, greetTimeout)
	if err != nil {
		return &SandboxError{Tier: p.Tier(), Err: fmt.Errorf("probe: %w", err)}
	}
	d := wire.NewDecoder(body)
	found := d.String()
	if err := d.End(); err != nil || kind != wire.KindProbed || found != "" {
		return &SandboxError{Tier: p.Tier(), Err: errors.Join(errors.New(found), err)}
	}
	p.stands(RuntimeStarlark, p.tierName(RuntimeStarlark, proc.layers), proc.layers)
	return nil
}
