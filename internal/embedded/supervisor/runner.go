package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
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
	// lockedPatience is how long an earlier supervisor's server may take to let go
	// of its folder: it was killed, and has much memory to give back.
	lockedPatience = time.Minute
	// portPatience is how long the port of the last time may be taken before the
	// server moves to another: that of a supervisor that was killed is let go of
	// later than its lock.
	portPatience = 3 * time.Second
)

// runner keeps one server running.
type runner struct {
	name string
	make func(name, addr string) (service, error)
	// clear, where set, ends what an earlier supervisor left in the folder. It
	// reports what it did, nothing for nothing.
	clear func() string
	log   *slog.Logger
	// fixed is the address that the user wants; empty for the one it had last.
	fixed  string
	notify func(wire.Service) // told of every change
	wanted func() bool        // whether a lease asks for the service
	again  chan struct{}      // has an element when a client asks anew
	// patience is how long a folder may be in use before that counts as a failure.
	patience time.Duration
	// every is the time between tries after that.
	every time.Duration

	mu      sync.Mutex // guards the following
	current service
}

// run starts the server, and starts it again when it ends, until ctx ends; then
// it stops it.
func (r *runner) run(ctx context.Context, last string) {
	addr, ran := r.firstAddress(last), false
	for down := newOutage(); ; {
		svc, err := r.start(ctx, addr)
		switch {
		case err == nil:
			if down.tries > 1 {
				r.log.Info("service runs again", "service", r.name, "after", time.Since(down.since), "tries", down.tries)
			}
			addr, ran, down = svc.Addr(), true, newOutage()
			r.notify(wire.Service{Phase: wire.Ready, Addr: addr, PID: pidOf(svc)})
			if r.watch(ctx, svc) {
				return
			}
			err = errors.New("the server ended and is started again")
		case ctx.Err() != nil:
			return
		case portTaken(err) && r.fixed == "" && !ran && addr != anyPort:
			if addr = r.evade(down, addr); !sleep(ctx, minPause) {
				return
			}
			continue
		}
		down.tries++
		if !r.pause(ctx, down, err, addr, ran) {
			return
		}
	}
}

// outage is a time in which a server does not run.
type outage struct {
	since time.Time
	tries int
	pause time.Duration
	// taken is when the port of the last time was first found taken.
	taken time.Time
	// failed says that clients were told that the server cannot start.
	failed bool
}

func newOutage() *outage { return &outage{since: time.Now(), pause: minPause} }

// evade is where to listen when the port of the last time is taken: there again
// for a while, as clients that outlived a supervisor keep trying that port.
func (r *runner) evade(down *outage, addr string) string {
	if down.taken.IsZero() {
		down.taken = time.Now()
	}
	if time.Since(down.taken) < portPatience {
		return addr
	}
	r.log.Warn("port of the last time is taken", "service", r.name, "addr", addr)
	return anyPort
}

// pause tells the clients and waits before the next try. It reports whether
// there is to be one.
func (r *runner) pause(ctx context.Context, down *outage, err error, addr string, ran bool) bool {
	locked := errors.Is(err, clickhouse.ErrLocked)
	state := wire.Service{Phase: wire.Restarting, Addr: addr, Error: err.Error()}
	switch {
	case locked && time.Since(down.since) >= r.patience:
		state.Phase, state.Retrying = wire.Failed, true
	case locked:
		if done := r.clear(); done != "" {
			r.log.Warn("an earlier supervisor's server was ended", "service", r.name, "server", done)
		}
	case hopeless(err) || (!ran && (down.tries >= maxFirstTries || portTaken(err))):
		state.Phase = wire.Failed
	}
	r.report(down, state)
	switch {
	case state.Phase != wire.Failed:
		defer func() { down.pause = min(2*down.pause, maxPause) }()
		return sleep(ctx, down.pause)
	case state.Retrying:
		return r.waitWanted(ctx)
	default:
		return false
	}
}

// report logs the beginning of an outage and its turning into a failure, and
// tells the clients.
func (r *runner) report(down *outage, st wire.Service) {
	switch {
	case st.Phase == wire.Failed && !down.failed:
		down.failed = true
		r.log.Error("service cannot start", "service", r.name, "error", st.Error, "retrying", st.Retrying)
	case st.Phase == wire.Restarting && down.tries == 1:
		r.log.Warn("service is started again", "service", r.name, "error", st.Error)
	}
	r.notify(st)
}

// waitWanted waits until a server that has failed is to be tried again: soon
// when a client asks anew, now and then while a lease asks for it.
func (r *runner) waitWanted(ctx context.Context) bool {
	t := time.NewTicker(r.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-r.again:
			return true
		case <-t.C:
			if r.wanted() {
				return true
			}
		}
	}
}

// poke makes a runner that waits try again.
func (r *runner) poke() {
	select {
	case r.again <- struct{}{}:
	default:
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
