package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// ErrEnded: the lease was closed, or the embedded servers could not be brought back.
var ErrEnded = errors.New("the lease on the embedded services has ended")

// ServiceError says why an embedded service cannot be used.
type ServiceError struct {
	Service Service
	Reason  string
}

// Error names the service.
func (e *ServiceError) Error() string {
	return fmt.Sprintf("embedded %s cannot be used: %s", e.Service, e.Reason)
}

// Lease keeps the embedded services of a data folder running. Its methods may
// be called concurrently. Close it, or end the process, to give it up.
type Lease struct {
	cfg      Config
	set      Settings
	log      *slog.Logger
	id       string
	services []Service // embedded ones

	cancel context.CancelFunc
	wg     sync.WaitGroup
	ended  sync.Once
	done   chan struct{}

	mu      sync.Mutex // guards the following
	state   wire.State
	changed chan struct{} // closed and replaced with every state
	err     error
}

// Connect takes a lease on the data folder's services, starting them where they
// do not run. It returns as soon as their supervisor answers; Wait waits for the
// services. Where the configuration names all services nothing is started.
//
// ErrLocked, ErrFormat, ErrHalfWritten and ErrDiskFull tell what is wrong with
// the folder.
func Connect(ctx context.Context, cfg Config, set Settings) (*Lease, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Services == nil {
		set.Services = All()
	}
	l := &Lease{
		cfg: cfg, set: set, log: set.Logger, id: rand.Text(), services: cfg.embedded(set.Services),
		done: make(chan struct{}), changed: make(chan struct{}), cancel: func() {},
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if len(l.services) == 0 {
		return l, nil
	}
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.apply(s.first)
	var background context.Context
	background, l.cancel = context.WithCancel(context.Background())
	l.wg.Go(func() { l.keep(background, s) })
	return l, nil
}

// keep follows the supervisor's states, and replaces a supervisor that is gone.
func (l *Lease) keep(ctx context.Context, s *session) {
	for {
		l.follow(ctx, s)
		if ctx.Err() != nil {
			l.fail(ErrEnded)
			return
		}
		l.log.Warn("the supervisor of the embedded services is gone, starting another", "data", l.cfg.Dir)
		var err error
		if s, err = l.reopen(ctx); err != nil {
			l.fail(errors.Join(ErrEnded, err))
			return
		}
		l.apply(s.first)
		l.log.Info("another supervisor of the embedded services runs", "data", l.cfg.Dir, "supervisor_pid", s.first.PID)
	}
}

// follow applies states until the connection ends.
func (l *Lease) follow(ctx context.Context, s *session) {
	defer context.AfterFunc(ctx, s.close)()
	defer s.close()
	for {
		st, err := s.next()
		if err != nil {
			return
		}
		l.apply(st)
	}
}

// reopenTimeout is how long a lease tries to bring the servers back.
const reopenTimeout = 30 * time.Second

func (l *Lease) reopen(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, reopenTimeout)
	defer cancel()
	return l.open(ctx)
}

// apply records a state. A service that moved to another port is reported: its
// clients keep trying the old one.
func (l *Lease) apply(st wire.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, now := range st.Services {
		before := l.state.Services[name]
		if before.Phase != now.Phase {
			l.log.Debug("embedded service", "service", name, "phase", now.Phase, "addr", now.Addr, "error", now.Error)
		}
		if before.Addr != "" && now.Addr != "" && before.Addr != now.Addr {
			l.log.Error("an embedded service has another address now", "service", name, "was", before.Addr, "is", now.Addr)
		}
	}
	l.state = st
	close(l.changed)
	l.changed = make(chan struct{})
}

// fail ends the lease; the first reason counts.
func (l *Lease) fail(err error) {
	l.ended.Do(func() {
		l.mu.Lock()
		l.err = err
		close(l.changed)
		l.changed = make(chan struct{})
		l.mu.Unlock()
		close(l.done)
	})
}

// Wait returns where the given services are once they can be used; without
// arguments it waits for all that the lease was taken for. A service that
// cannot be brought up is a *ServiceError.
func (l *Lease) Wait(ctx context.Context, services ...Service) (Endpoints, error) {
	if len(services) == 0 {
		services = l.set.Services
	}
	wanted := l.cfg.embedded(services)
	for {
		l.mu.Lock()
		st, changed, err := l.state, l.changed, l.err
		l.mu.Unlock()
		if err != nil {
			return Endpoints{}, err
		}
		ready, err := l.check(st, wanted)
		if err != nil {
			return Endpoints{}, err
		}
		if ready {
			return l.Endpoints(), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Endpoints{}, fmt.Errorf("wait for embedded services: %s: %w", describe(st, wanted), ctx.Err())
		}
	}
}

// check reports whether all services are ready, or why one never will be.
func (l *Lease) check(st wire.State, wanted []Service) (bool, error) {
	ready := true
	for _, s := range wanted {
		if !slices.Contains(l.services, s) {
			return false, &ServiceError{Service: s, Reason: "the lease was not taken for it"}
		}
		switch now := st.Services[string(s)]; now.Phase {
		case wire.Failed:
			return false, &ServiceError{Service: s, Reason: now.Error}
		case wire.Ready:
		default:
			ready = false
		}
	}
	return ready, nil
}

func describe(st wire.State, wanted []Service) string {
	var parts []string
	for _, s := range wanted {
		now := st.Services[string(s)]
		if now.Phase == wire.Ready {
			continue
		}
		part := string(s) + " is " + string(now.Phase)
		if now.Error != "" {
			part += " (" + now.Error + ")"
		}
		parts = append(parts, part)
	}
	return fmt.Sprint(parts)
}

// Endpoints returns where the services are, as far as they have been started.
func (l *Lease) Endpoints() Endpoints {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.cfg.External
	e.fill(l.cfg.External, l.state, l.id)
	return e
}

// Status is what an embedded service is doing.
type Status struct {
	Phase string // starting, ready, restarting or failed
	Addr  string
	Error string // why it restarts or failed
	PID   int    // of a server with a process of its own
}

// Status returns what the embedded services are doing, for display.
func (l *Lease) Status() map[Service]Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[Service]Status{}
	for name, s := range l.state.Services {
		out[Service(name)] = Status{Phase: string(s.Phase), Addr: s.Addr, Error: s.Error, PID: s.PID}
	}
	return out
}

// SupervisorPID is the process that runs the embedded services; 0 for none.
func (l *Lease) SupervisorPID() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.PID
}

// Done is closed when the lease has ended: closed, or lost for good, which Err tells.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Err is why the lease ended; nil while it lasts.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close gives the lease up. It may be called twice.
func (l *Lease) Close() error {
	l.cancel()
	l.wg.Wait()
	l.fail(ErrEnded)
	return nil
}
