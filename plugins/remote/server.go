package remote

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/host"
	"github.com/seed256f7767/spade/plugins/internal/generation"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Names of the metadata of a call.
const (
	runKey   = "spade-run"
	tokenKey = "authorization"
	bearer   = "Bearer "
)

// ServerConfig is what a user writes.
type ServerConfig struct {
	// Listen is the host:port that the server answers on. Required.
	Listen string
	// Token is what callers must show. Required unless only this machine can reach the address.
	Token secret.Text
	// CertFile and KeyFile are the server's certificate. Empty: no TLS.
	CertFile, KeyFile string
}

// ErrConfig is the class of configurations that cannot be used.
var ErrConfig = errors.New("policy server configuration")

// Validate names what is wrong.
func (c ServerConfig) Validate() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("%w: address %q: %w", ErrConfig, c.Listen, err)
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return fmt.Errorf("%w: a certificate needs both its file and its key file", ErrConfig)
	}
	if ip := net.ParseIP(host); c.Token.IsZero() && host != "localhost" && !ip.IsLoopback() {
		return fmt.Errorf("%w: %s can be reached from other machines: set a token (SPADE_POLICY_TOKEN)", ErrConfig, c.Listen)
	}
	return nil
}

// Server answers for the runs that were added. Its methods may be called concurrently.
type Server struct {
	cfg      ServerConfig
	grpc     *grpc.Server
	listener net.Listener
	failed   chan error // holds why serving ended by itself
	served   sync.WaitGroup
	stop     sync.Once

	mu   sync.Mutex // guards the following
	runs map[uuid.UUID]entry
}

type entry struct {
	generator policy.Generator
	info      plugins.Info
}

// NewServer checks the configuration and loads the certificate. Start serves, Shutdown ends it.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, runs: map[uuid.UUID]entry{}, failed: make(chan error, 1)}
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(plugins.MaxMessageBytes), grpc.MaxSendMsgSize(plugins.MaxMessageBytes),
		grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
	}
	if cfg.CertFile != "" {
		creds, err := credentials.NewServerTLSFromFile(cfg.CertFile, cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the policy server's certificate: %w", err)
		}
		options = append(options, grpc.Creds(creds))
	}
	s.grpc = grpc.NewServer(options...)
	pluginpb.RegisterTrainerServer(s.grpc, service{server: s})
	return s, nil
}

// Start listens.
func (s *Server) Start(ctx context.Context) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("serve the policy: %w", err)
	}
	s.listener = l
	s.served.Go(func() {
		if err := s.grpc.Serve(l); err != nil {
			s.failed <- fmt.Errorf("serve the policy: %w", err)
		}
	})
	return nil
}

// Failed holds an error when the server has ended by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// Addr is where the server answers, once started.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Shutdown takes no more calls and lets those in progress end until ctx does; callers ask again, here or elsewhere. It may be
// called without Start, and again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop.Do(func() {
		defer context.AfterFunc(ctx, s.grpc.Stop)()
		s.grpc.GracefulStop()
		s.served.Wait()
	})
	return nil
}

// Add makes the server answer for a run. withdraw ends that.
func (s *Server) Add(run uuid.UUID, generator policy.Generator, info plugins.Info) (withdraw func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[run] = entry{generator, info}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.runs, run)
	}
}

// service is what the server serves of the contract.
type service struct {
	pluginpb.UnimplementedTrainerServer
	server *Server
}

// Info describes the plugin that answers for the run.
func (s service) Info(ctx context.Context, _ *pluginpb.InfoRequest) (*pluginpb.InfoResponse, error) {
	e, err := s.server.entry(ctx)
	if err != nil {
		return nil, plugins.ToStatus(err)
	}
	return &pluginpb.InfoResponse{
		Name: e.info.Name, Version: e.info.Version, Roles: e.info.Roles, Device: e.info.Device,
		Capabilities: e.info.Capabilities, CheckpointFormat: e.info.CheckpointFormat, MaxMessageBytes: plugins.MaxMessageBytes,
	}, nil
}

// piece is how many completions travel in one message.
const piece = 64

// Generate answers for the run that the call names.
func (s service) Generate(req *pluginpb.GenerateRequest, st grpc.ServerStreamingServer[pluginpb.GenerateResponse]) error {
	e, err := s.server.entry(st.Context())
	if err != nil {
		return plugins.ToStatus(err)
	}
	err = generation.Answer(req, st, func(role policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error {
		completions, err := e.generator.Generate(st.Context(), role, version, prompts)
		if (errors.Is(err, context.Canceled) || errors.Is(err, host.ErrClosed)) && st.Context().Err() == nil {
			return status.Error(codes.Unavailable, "the run's plugin is going away")
		}
		if err != nil {
			return err
		}
		for len(completions) > 0 {
			n := min(piece, len(completions))
			if err := emit(completions[:n]); err != nil {
				return err
			}
			completions = completions[n:]
		}
		return nil
	})
	return plugins.ToStatus(err)
}

// notYet is how long a caller waits that came before its run: the server learns of runs from the log, as the caller does.
const notYet = 500 * time.Millisecond

func (s *Server) entry(ctx context.Context) (entry, error) {
	run, err := uuid.Parse(first(ctx, runKey))
	if err != nil {
		return entry{}, &plugins.PermanentError{Message: "the call names no run"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.runs[run]
	if !ok {
		known := len(s.runs)
		return entry{}, &plugins.RetryAfterError{
			After: notYet, Message: fmt.Sprintf("this policy worker does not serve run %s; it serves %d others", run, known),
		}
	}
	return e, nil
}

func first(ctx context.Context, key string) string {
	md, _ := metadata.FromIncomingContext(ctx)
	if values := md.Get(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

// allowed refuses callers without the token.
func (s *Server) allowed(ctx context.Context) error {
	if s.cfg.Token.IsZero() {
		return nil
	}
	want := bearer + s.cfg.Token.Reveal()
	if subtle.ConstantTimeCompare([]byte(want), []byte(first(ctx, tokenKey))) == 1 {
		return nil
	}
	return status.Error(codes.Unauthenticated, "the token is wrong or missing")
}

func (s *Server) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := s.allowed(ctx); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (s *Server) stream(srv any, st grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := s.allowed(st.Context()); err != nil {
		return err
	}
	return next(srv, st)
}
