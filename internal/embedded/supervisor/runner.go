package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/wire"
)

const (
	anyPort = "127.0.0.1:0"
	// maxFirstTries is how often a server that never ran is started; one that has
	// run is started for ever.
	maxFirstTries = 3
	minPause      = 100 * time.Millisecond
	maxPause      = 5 * time.Second
	stopTimeout   = 10 * time.Second
)

// runner keeps one server running.
type runner struct {
	name string
	make func(name, addr string) (service, error)
	log  *slog.Logger
	// fixed is the address that the user wants; empty for the one it had last.
	fixed  string
	notify func(wire.Service) // told of every change

	mu      sync.Mutex // guards the following
	current service
}

// run starts the server, and starts it again when it ends, until ctx ends; then
// it stops it.
func (r *runner) run(ctx context.Context, last string) {
	addr, ran, tries := r.firstAddress(last), false, 0
	for pause := minPause; ; {
		svc, err := r.start(ctx, addr)
		switch {
		case err == nil:
			addr, ran, pause, tries = svc.Addr(), true, minPause, 0
			r.notify(wire.Service{Phase: wire.Ready, Addr: addr, PID: pidOf(svc)})
			if r.watch(ctx, svc) {
				return
			}
			err = fmt.Errorf("the server ended and is started again")
		case ctx.Err() != nil:
			return
		case portTaken(err) && r.fixed == "" && !ran && addr != anyPort:
			r.log.Warn("port of the last time is taken", "service", r.name, "addr", addr)
			addr = anyPort
			continue
		}
		tries++
		if hopeless(err) || (!ran && (tries == maxFirstTries || portTaken(err))) {
			r.log.Error("service cannot start", "service", r.name, "error", err)
			r.notify(wire.Service{Phase: wire.Failed, Addr: addr, Error: err.Error()})
			return
		}
		r.log.Warn("service is started again", "service", r.name, "error", err, "pause", pause)
		r.notify(wire.Service{Phase: wire.Restarting, Addr: addr, Error: err.Error()})
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, maxPause)
	}
}

func (r *runner) firstAddress(last string) string {
	switch {
	case r.fixed != "":
		return r.fixed
	case last != "":
		return last
	default:
		return anyPort
	}
}

// start makes and starts a server.
func (r *runner) start(ctx context.Context, addr string) (service, error) {
	svc, err := r.make(r.name, addr)
	if err != nil {
		return nil, err
	}
	if err := svc.Start(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.current = svc
	r.mu.Unlock()
	return svc, nil
}

// watch waits for the server's end. It reports whether the end was wanted.
func (r *runner) watch(ctx context.Context, svc service) bool {
	select {
	case <-svc.Done():
		return false
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := svc.Shutdown(stop); err != nil {
		r.log.Warn("service stopped badly", "service", r.name, "error", err)
	}
	return true
}

// server is what runs now, or nil.
func (r *runner) server() service {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// pidOf is the process of a server that has one of its own.
func pidOf(svc service) int {
	if p, ok := svc.(interface{ PID() int }); ok {
		return p.PID()
	}
	return 0
}

// sleep waits, and reports whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
