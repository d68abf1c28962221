package gym

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// load loads the source for the first time. A death that can have another reason than the source is tried once more, and so
// is a process that did not get as far as the source.
func (w *Worker) load(ctx context.Context) error {
	for deaths, starts := 0, 0; ; {
		meta, err := w.loadFresh(ctx)
		var death *deathError
		var unborn *startError
		if errors.As(err, &death) {
			w.pool.meter.died(w.launch.runtime, death)
		}
		switch {
		case errors.As(err, &unborn) && starts == 0:
			starts++
		case errors.As(err, &death) && deaths == 0 && death.cause != causeMemory && !death.final:
			deaths++
		case errors.As(err, &death):
			return &SourceError{Stage: "load", Fault: death.fault()}
		default:
			w.meta = meta
			return err
		}
	}
}

// loadFresh loads the source into a fresh process.
func (w *Worker) loadFresh(ctx context.Context) (Meta, error) {
	p, err := w.fresh(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.pool.meter.failed(w.launch.runtime)
		}
		return Meta{}, err
	}
	w.pool.meter.started(w.launch.runtime)
	return w.pool.loadInto(ctx, p, w.src)
}

// loadInto loads a source into a fresh process.
func (p *Pool) loadInto(ctx context.Context, proc *proc, src Source) (Meta, error) {
	defer proc.interruptible(ctx)()
	p.dog.enter(proc)
	defer p.dog.leave(proc)
	e := wire.Encoder{Buf: wire.AppendHeader(nil, proc.nonce, wire.KindLoad)}
	e.Load(wire.Load{Runtime: src.Runtime, Code: src.Code, Limits: p.cfg.Limits})
	if err := proc.send(ctx, e.Buf, p.cfg.LoadTimeout); err != nil {
		return Meta{}, unborn(err) // it runs nothing before it has the whole of it
	}
	kind, body, err := proc.recv(ctx, p.cfg.LoadTimeout)
	if err != nil {
		return Meta{}, err
	}
	d := wire.NewDecoder(body)
	m := d.Loaded()
	if err := d.End(); err != nil || kind != wire.KindLoaded {
		return Meta{}, proc.death(&deathError{cause: causeProtocol, text: fmt.Sprintf("message kind %d after loading: %v", kind, err)})
	}
	if m.Stage != "" {
		return Meta{}, &SourceError{Stage: m.Stage, Fault: m.Fault}
	}
	if err := m.Meta.Check(); err != nil {
		return Meta{}, &SourceError{Stage: "meta", Fault: Fault{Outcome: EnvError, Cause: causeProtocol, Error: err.Error()}}
	}
	return m.Meta, nil
}
