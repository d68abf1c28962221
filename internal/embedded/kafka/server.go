package kafka

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// minSession is the shortest session timeout a group member may ask for. Kafka
// has 6 s; the members here are processes of one machine.
const minSession = time.Second

// brokerConfigs make the log keep everything: kfake, like Kafka, deletes
// records and committed offsets after 7 days by default. The offsets' limit is
// a century, because kfake multiplies it to nanoseconds in 64 bits.
func brokerConfigs() map[string]string {
	return map[string]string{
		"log.retention.ms":          "-1",
		"log.retention.bytes":       "-1",
		"offsets.retention.minutes": "52560000",
	}
}

// Server is one embedded broker. Its methods may be called concurrently.
type Server struct {
	cfg Config
	log *slog.Logger

	mu      sync.Mutex // guards the following
	cluster *kfake.Cluster
	addr    string
	done    chan struct{} // closed once the broker has stopped
	stopped bool
}

// New checks the configuration. It touches neither disk nor network.
func New(cfg Config, set Settings) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	log := set.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, log: log, done: make(chan struct{})}, nil
}

// Start loads the log and listens. A taken port is a *PortTakenError, a log
// that cannot be read ErrDamaged. A server starts once.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster != nil || s.stopped {
		return errors.New("embedded kafka: started twice")
	}
	if err := prepare(s.cfg.Dir); err != nil {
		return err
	}
	if err := inspect(s.cfg.Dir); err != nil {
		return fmt.Errorf("%w: folder %s: %w; restore it from a copy, or move the data folder away to begin anew", ErrDamaged, s.cfg.Dir, err)
	}
	cut, err := cutTornCommit(s.cfg.Dir)
	if err != nil {
		return err
	}
	if cut > 0 {
		s.log.Warn("embedded kafka: a commit that was not finished is dropped", "bytes", cut)
	}
	ln, err := listen(ctx, s.cfg.addr())
	if err != nil {
		return err
	}
	cluster, err := kfake.NewCluster(s.options(ln)...)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: folder %s: %w", ErrDamaged, s.cfg.Dir, err), closeQuietly(ln))
	}
	s.cluster, s.addr = cluster, ln.Addr().String()
	s.log.Info("embedded kafka started", "addr", s.addr, "dir", s.cfg.Dir)
	return nil
}

func (s *Server) options(ln net.Listener) []kfake.Opt {
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ClusterID("spade"),
		kfake.DataDir(s.cfg.Dir),
		kfake.EnableSASL(),
		kfake.Superuser(Mechanism, s.cfg.User, s.cfg.Password.Reveal()),
		kfake.BrokerConfigs(brokerConfigs()),
		kfake.GroupMinSessionTimeout(minSession),
		kfake.WithLogger(logAdapter{s.log}),
		kfake.ListenFn(func(string, string) (net.Listener, error) {
			return guardListener{Listener: ln, log: s.log}, nil
		}),
	}
	if s.cfg.SyncWrites {
		opts = append(opts, kfake.SyncWrites())
	}
	return opts
}

// Addr returns host:port, or nothing before Start.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Done is closed when the broker has stopped.
func (s *Server) Done() <-chan struct{} { return s.done }

// Cluster returns the broker itself, for fault injection in tests. It is nil
// before Start.
func (s *Server) Cluster() *kfake.Cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster
}

// Shutdown writes the broker's state and stops it. It may be called twice, and
// without Start. When ctx ends first the broker still stops in the background.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	cluster := s.cluster
	if s.stopped {
		cluster = nil
	} else if s.stopped = true; cluster == nil {
		close(s.done)
	}
	s.mu.Unlock()
	if cluster != nil {
		go func() {
			defer close(s.done)
			cluster.Close()
		}()
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop embedded kafka: %w", ctx.Err())
	}
}

// prepare creates the folder and drops what must not outlive a process: group
// sessions (kfake would wait for members of processes that are gone) and the
// stored login (the secret in the configuration is the one that counts).
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create kafka folder: %w", err)
	}
	for _, name := range []string{"session_state.json", "sasl.json"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prepare kafka folder: %w", err)
		}
	}
	return nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &PortTakenError{Addr: addr, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("listen for embedded kafka: %w", err)
	}
	return ln, nil
}

func closeQuietly(ln net.Listener) error {
	if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// logAdapter passes what kfake calls warnings and errors on.
type logAdapter struct{ log *slog.Logger }

// Logf writes one line.
func (a logAdapter) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		a.log.Error("embedded kafka", "detail", fmt.Sprintf(format, args...))
	case kfake.LogLevelWarn:
		a.log.Warn("embedded kafka", "detail", fmt.Sprintf(format, args...))
	}
}
