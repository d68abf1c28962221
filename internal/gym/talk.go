package gym

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// send writes one frame; the buffer must begin with room for its header, see wire.AppendHeader.
func (p *proc) send(ctx context.Context, frame []byte, timeout time.Duration) error {
	if err := wire.FinishFrame(frame); err != nil {
		return err
	}
	if err := p.in.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return p.death(nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := p.in.Write(frame)
	return p.transport(ctx, err, timeout)
}

// recv reads one frame.
func (p *proc) recv(ctx context.Context, timeout time.Duration) (wire.Kind, string, error) {
	p.spent = p.cpu()
	over := overtime{proc: p, limit: timeout}
	for wait := timeout; ; {
		if err := p.out.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return 0, "", p.death(nil)
		}
		if err := ctx.Err(); err != nil {
			return 0, "", err
		}
		nonce, kind, body, err := p.frames.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
			if wait = over.owed(); wait > 0 {
				continue
			}
		}
		if err == nil && nonce != p.nonce {
			err = wire.ErrNonce
		}
		if err != nil {
			return 0, "", p.transport(ctx, err, timeout)
		}
		return kind, string(body), nil
	}
}

// transport turns an error of a pipe into what it means.
func (p *proc) transport(ctx context.Context, err error, timeout time.Duration) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.death(&deathError{cause: causeTimeout, text: fmt.Sprintf("no answer within %v", timeout), final: p.burnt(timeout)})
	case errors.Is(err, wire.ErrFrameSize), errors.Is(err, wire.ErrNonce), errors.Is(err, wire.ErrMalformed):
		return p.death(&deathError{cause: causeProtocol, text: err.Error()})
	}
	return p.death(nil) // io.EOF, ErrCut, a broken pipe, or closed under our hands
}

// interruptible makes send and recv return when ctx is done. Stop it after the exchange.
func (p *proc) interruptible(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = p.in.SetWriteDeadline(past)
		_ = p.out.SetReadDeadline(past)
	})
}

// greet waits until a fresh process says which layers it has taken on.
func (p *proc) greet(ctx context.Context, timeout time.Duration) error {
	kind, body, err := p.recv(ctx, timeout)
	if err != nil {
		return err
	}
	d := wire.NewDecoder(body)
	switch kind {
	case wire.KindReady:
		p.layers = sandbox.Layer(d.Uint())
		if p.group != nil {
			p.layers |= sandbox.Cgroup
		}
	case wire.KindRefused:
		return &refusal{d.String()}
	default:
		return p.death(&deathError{cause: causeProtocol, text: fmt.Sprintf("message kind %d instead of a greeting", kind)})
	}
	return d.End()
}

// refusal is what a worker says that cannot confine itself.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }
