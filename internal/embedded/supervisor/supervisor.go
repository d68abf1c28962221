package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// supervisor runs the services and counts the leases.
type supervisor struct {
	o       Options
	folder  datadir.Folder
	secrets datadir.Secrets
	log     *slog.Logger
	factory factory

	idle chan struct{} // closed when the last lease has been over for Linger
	wg   sync.WaitGroup

	mu        sync.Mutex // guards the following
	leases    map[*lease]struct{}
	services  map[string]wire.Service
	runners   map[string]*runner
	addresses map[string]string
	timer     *time.Timer // fires when nobody came back
	ending    bool
}

func newSupervisor(o Options, folder datadir.Folder, secrets datadir.Secrets, log *slog.Logger) *supervisor {
	return &supervisor{
		o: o, folder: folder, secrets: secrets, log: log,
		factory: factory{o: o, folder: folder, secrets: secrets, log: log},
		idle:    make(chan struct{}), leases: map[*lease]struct{}{}, services: map[string]wire.Service{},
		runners: map[string]*runner{}, addresses: folder.Addresses(),
	}
}

// serve gives leases until ctx ends or nobody wants one, then stops the services.
func (s *supervisor) serve(ctx context.Context, ln *net.UnixListener) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.armLocked(max(s.o.Linger, firstLease))
	s.mu.Unlock()
	s.wg.Go(func() { s.accept(ctx, ln) })
	select {
	case <-ctx.Done():
		s.log.Info("supervisor was asked to end")
	case <-s.idle:
		s.log.Info("supervisor ends: no lease is left")
	}
	// The socket goes first: a client that comes now starts the next supervisor,
	// which waits for the lock.
	if err := ln.Close(); err != nil {
		s.log.Warn("close socket", "error", err)
	}
	cancel()
	s.mu.Lock()
	s.ending = true
	s.timer.Stop()
	for l := range s.leases {
		l.end()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// accept takes clients in until the socket is closed.
func (s *supervisor) accept(ctx context.Context, ln *net.UnixListener) {
	for {
		conn, err := ln.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log.Warn("accept client", "error", err)
			if !sleep(ctx, minPause) {
				return
			}
			continue
		}
		s.wg.Go(func() { s.client(ctx, conn) })
	}
}

// client is the life of one connection.
func (s *supervisor) client(ctx context.Context, conn *net.UnixConn) {
	l := &lease{conn: conn, wake: make(chan struct{}, 1), over: make(chan struct{})}
	defer l.end()
	if err := wire.CheckPeer(conn, os.Getuid()); err != nil {
		s.log.Warn("client refused", "error", err)
		return
	}
	hello, err := l.hello()
	if err != nil {
		s.log.Warn("client refused", "error", err)
		return
	}
	if hello.Version != wire.Version {
		_ = l.send(wire.State{Version: wire.Version, PID: os.Getpid(), Refused: fmt.Sprintf( // the client leaves either way
			"the supervisor of %s (process %d) is of another build; end the commands that use it and try again", s.folder.Path(), os.Getpid())})
		return
	}
	if !s.admit(ctx, l, hello) {
		return
	}
	s.log.Info("lease begins", "lease", l.id, "client_pid", hello.PID, "purpose", hello.Purpose)
	s.wg.Go(func() { s.tell(l) })
	l.waitForEnd()
	s.leave(ctx, l)
}

// admit gives a lease and starts the services that it needs.
func (s *supervisor) admit(ctx context.Context, l *lease, hello wire.Hello) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.timer.Stop()
	l.id, l.services = hello.Lease, hello.Services
	s.leases[l] = struct{}{}
	for _, name := range hello.Services {
		s.wantLocked(ctx, name)
	}
	l.poke()
	return true
}

// wantLocked starts a service that does not run yet. One that failed is tried
// again: the reason may be gone.
func (s *supervisor) wantLocked(ctx context.Context, name string) {
	if !slices.Contains(serviceNames(), name) {
		s.services[name] = wire.Service{Phase: wire.Failed, Error: "there is no such service"}
		return
	}
	st, known := s.services[name]
	switch {
	case known && st.Retrying:
		s.services[name] = wire.Service{Phase: wire.Restarting, Addr: st.Addr, Error: st.Error}
		s.runners[name].poke()
		s.pokeLocked()
		return
	case known && st.Phase != wire.Failed:
		return
	}
	r := &runner{
		name: name, make: s.factory.make, log: s.log, fixed: s.o.Addresses[name], patience: lockedPatience, every: maxPause,
		again: make(chan struct{}, 1), wanted: func() bool { return s.wanted(name) },
		clear: func() string { return endStale(s.folder.Sub(name)) },
	}
	r.notify = func(st wire.Service) { s.changed(name, st) }
	s.services[name] = wire.Service{Phase: wire.Starting}
	s.runners[name] = r
	last := s.addresses[name]
	s.wg.Go(func() { r.run(ctx, last) })
	s.pokeLocked()
}

// wanted reports whether a lease asks for a service.
func (s *supervisor) wanted(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases {
		if slices.Contains(l.services, name) {
			return true
		}
	}
	return false
}

// changed records what a service does and tells every client.
func (s *supervisor) changed(name string, st wire.Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.services[name] = st
	if st.Phase == wire.Ready && s.addresses[name] != st.Addr {
		s.addresses[name] = st.Addr
		if err := s.folder.SetAddresses(s.addresses); err != nil {
			s.log.Warn("addresses not remembered", "error", err)
		}
	}
	s.pokeLocked()
}

func (s *supervisor) pokeLocked() {
	for l := range s.leases {
		l.poke()
	}
}

// state is what clients are told.
func (s *supervisor) state() wire.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.State{
		Version: wire.Version, PID: os.Getpid(), User: datadir.User, Services: maps.Clone(s.services),
		Secrets: wire.Secrets{
			Kafka: s.secrets.Kafka.Reveal(), ClickHouse: s.secrets.ClickHouse.Reveal(),
			Reader: s.secrets.Reader.Reveal(), Qdrant: s.secrets.Qdrant.Reveal(),
		},
	}
}

// tell sends the state whenever it changes, until the lease is over.
func (s *supervisor) tell(l *lease) {
	for {
		select {
		case <-l.over:
			return
		case <-l.wake:
			if err := l.send(s.state()); err != nil {
				l.end()
				return
			}
		}
	}
}

// leave ends a lease: its group members go, and with the last one the timer runs.
func (s *supervisor) leave(ctx context.Context, l *lease) {
	s.log.Info("lease ends", "lease", l.id)
	s.mu.Lock()
	delete(s.leases, l)
	if len(s.leases) == 0 && !s.ending {
		s.armLocked(s.o.Linger)
	}
	r := s.runners[datadir.Kafka]
	s.mu.Unlock()
	if r != nil {
		s.dropMembers(ctx, r, l.id)
	}
}

// memberDropper is what Kafka's server can do.
type memberDropper interface {
	DropClient(ctx context.Context, clientID string) error
}

// dropMembers frees the partitions of a client that was killed.
func (s *supervisor) dropMembers(ctx context.Context, r *runner, id string) {
	d, ok := r.server().(memberDropper)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := d.DropClient(ctx, ClientID(id)); err != nil && ctx.Err() == nil {
		s.log.Warn("group members not dropped", "lease", id, "error", err)
	}
}

// ClientID is the Kafka client id of the holder of a lease.
func ClientID(lease string) string { return "spade-" + lease }

// firstLease is how long the client that started the supervisor may take to
// come: on a busy machine it is slow.
const firstLease = 10 * time.Second

// armLocked lets the supervisor end after a while, unless someone comes.
func (s *supervisor) armLocked(after time.Duration) {
	s.timer = time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.leases) == 0 && !s.ending {
			s.ending = true
			close(s.idle)
		}
	})
}

// lease is one client's connection.
type lease struct {
	id       string
	services []string // that it asks for
	conn     *net.UnixConn
	wake     chan struct{} // has an element when the client must be told
	once     sync.Once
	over     chan struct{}
}

const helloTimeout = 5 * time.Second

// hello reads the client's first line.
func (l *lease) hello() (wire.Hello, error) {
	var h wire.Hello
	if err := l.conn.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return h, fmt.Errorf("hello: %w", err)
	}
	if err := json.NewDecoder(&limited{conn: l.conn, left: 64 << 10}).Decode(&h); err != nil {
		return h, fmt.Errorf("hello: %w", err)
	}
	return h, l.conn.SetReadDeadline(time.Time{})
}

// limited reads no more than a hello may have.
type limited struct {
	conn net.Conn
	left int
}

// Read reads up to the limit.
func (r *limited) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errors.New("too long")
	}
	n, err := r.conn.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// send writes one line. A client that does not read is given up.
func (l *lease) send(st wire.State) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(helloTimeout)); err != nil {
		return err
	}
	_, err = l.conn.Write(append(b, '\n'))
	return err
}

// waitForEnd returns when the client has closed the connection, or died.
func (l *lease) waitForEnd() {
	var b [64]byte
	for {
		if _, err := l.conn.Read(b[:]); err != nil {
			l.end()
			return
		}
	}
}

func (l *lease) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lease) end() {
	l.once.Do(func() {
		close(l.over)
		_ = l.conn.Close() // the other end may be gone already
	})
}
