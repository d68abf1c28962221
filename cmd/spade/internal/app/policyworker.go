package app

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/plugins/remote"
)

// servePolicy answers for the policy of runs until ctx ends, while work finds them.
func (w *Worker) servePolicy(ctx context.Context, work func(context.Context) error) (err error) {
	p := w.Config.Policy
	server, err := remote.NewServer(remote.ServerConfig{Listen: p.Listen, Token: p.Token, CertFile: p.Cert, KeyFile: p.Key})
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	w.Services.Log.Info("policy worker answers", "addr", server.Addr())
	w.serve = func(run uuid.UUID, b *brain) func() {
		return server.Add(run, timed{b, w.Services.told}, b.info)
	}
	// Asked to end, the worker lets the answers that it owes be given before the plugins go.
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- work(working) }()
	select {
	case err = <-done:
		done <- nil
	case err = <-server.Failed():
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(w.Config.Drain)*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(draining))
	stop(nil)
	return errors.Join(err, <-done)
}

// remotePolicy is a run's policy as a policy worker serves it.
func (w *Worker) remotePolicy(run runs.Run) (*remote.Client, error) {
	p := w.Config.Policy
	return remote.Dial(remote.ClientConfig{Addr: p.Addr, Token: p.Token, CAFile: p.CA}, run.ID, w.Services.Log)
}
