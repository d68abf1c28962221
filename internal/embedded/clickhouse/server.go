package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/front"
)

// Server is the embedded ClickHouse as its parent sees it.
type Server struct {
	cfg  Config
	set  Settings
	done chan struct{} // closed when the child has ended, or will never begin

	mu      sync.Mutex // guards the following
	state   state
	process *process
	ready   child.Ready
	err     error // why the child ended, when nobody asked it to
}

type state int

const (
	idle state = iota
	started
	stopped
)

// New checks the config. It touches nothing.
func New(cfg Config, set Settings) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Logger == nil {
		set.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, set: set, done: make(chan struct{})}, nil
}

// Start runs the child and waits until it serves. A server starts once. The errors ErrLibrary, ErrAddress, ErrLocked
// and ErrFolder, and those of chdblib, tell what is wrong. ctx covers starting only.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != idle {
		return errors.New("start the embedded ClickHouse: it was started or shut down before")
	}
	p, ready, err := s.launch(ctx)
	if err != nil {
		s.state = stopped
		close(s.done)
		return err
	}
	s.state, s.process, s.ready = started, p, ready
	go s.watch(p) // ends with the process, which Shutdown waits for
	s.set.Logger.Info("embedded clickhouse started", "addr", ready.Addr, "version", ready.Version, "sandbox", ready.Sandbox)
	return nil
}

func (s *Server) launch(ctx context.Context) (*process, child.Ready, error) {
	lib, err := chdblib.Find(s.cfg.Library)
	if err != nil {
		return nil, child.Ready{}, fmt.Errorf("start the embedded ClickHouse: %w", err)
	}
	dir, err := filepath.Abs(s.cfg.Dir)
	if err != nil {
		return nil, child.Ready{}, fmt.Errorf("start the embedded ClickHouse: %w", err)
	}
	command, err := s.command()
	if err != nil {
		return nil, child.Ready{}, err
	}
	argv := append(append([]string{}, command...), "--dir", dir, "--lib", lib, "--addr", s.cfg.addr())
	return startProcess(ctx, argv, s.environment(dir), s.setup(), s.set.Logger)
}

func (s *Server) command() ([]string, error) {
	if s.set.Command != nil {
		return s.set.Command, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the embedded ClickHouse: find the executable: %w", err)
	}
	return []string{exe, child.Command}, nil
}

func (s *Server) setup() child.Setup {
	setup := child.Setup{
		Users:    []front.User{{Name: s.cfg.User, Secret: s.cfg.Password.Reveal()}},
		Database: s.cfg.database(),
		Limits:   s.cfg.ReaderLimits,
		Memory:   s.cfg.MaxMemory,
	}
	if !s.cfg.ReaderPassword.IsZero() {
		setup.Users = append(setup.Users, front.User{Name: Reader, Secret: s.cfg.ReaderPassword.Reveal(), ReadOnly: true})
	}
	return setup
}

// environment is what the child may know of this process's: nothing secret, and no time zone.
func (s *Server) environment(dir string) []string {
	env := []string{"TZ=" + cmp.Or(s.set.Zone, "UTC"), "TMPDIR=" + filepath.Join(dir, "tmp"), "HOME=" + filepath.Join(dir, "empty")}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "GOCOVERDIR", "GOTRACEBACK"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// watch records the end of the child.
func (s *Server) watch(p *process) {
	err := p.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == started {
		s.err = fmt.Errorf("%w: %w", ErrDied, err)
		s.set.Logger.Error("embedded clickhouse died", "error", err)
	}
	close(s.done)
}

// Addr is the host and port that the server listens on, empty before Start.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready.Addr
}

// URL is the address for HTTP clients, without user and password; empty before Start.
func (s *Server) URL() string {
	if addr := s.Addr(); addr != "" {
		return "http://" + addr
	}
	return ""
}

// Version is ClickHouse's, such as "26.7.2.1"; empty before Start.
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready.Version
}

// Sandbox says in words what the kernel keeps the child from; empty before Start.
func (s *Server) Sandbox() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready.Sandbox
}

// PID is the child's process id, 0 before Start.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

// Done is closed when the child has ended: by itself, which Err then tells, or by Shutdown.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is why the child ended by itself, an ErrDied; nil while it runs and after Shutdown.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Shutdown lets running statements end and stops the child, by force when ctx ends before. It may be called at any time, and again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	p := s.process
	switch s.state {
	case idle:
		close(s.done)
		s.state = stopped
	case started:
		s.state = stopped
	case stopped:
	}
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	p.release()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		p.kill()
		<-s.done
		return fmt.Errorf("stop the embedded ClickHouse: killed it: %w", context.Cause(ctx))
	}
}
