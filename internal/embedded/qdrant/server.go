package qdrant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // clients may compress; the codec registers itself
	"google.golang.org/grpc/keepalive"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// Server is the embedded vector server. Start and Shutdown may be called from
// different goroutines; a Server is started once.
type Server struct {
	cfg    Config
	logger *slog.Logger

	mu      sync.Mutex // guards the following
	engine  *engine.Engine
	grpc    *grpc.Server
	addr    string
	served  chan struct{} // closed when the serving goroutine has ended
	stopped bool
}

// New checks the config; it does no I/O.
func New(cfg Config, set Settings) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	logger := set.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, logger: logger}, nil
}

// Start opens the folder, recovering what a crash left, and listens. It returns
// once requests are answered. ctx bounds the start only.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.engine != nil {
		return errors.New("vector server: started twice or after its shutdown")
	}
	began := time.Now()
	store, err := engine.Open(ctx, s.cfg.Dir, engine.Settings{Logger: s.logger, MaxVectorBytes: s.cfg.MaxVectorBytes})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return errors.Join(fmt.Errorf("vector server: %w", err), store.Close())
	}
	s.engine, s.addr, s.grpc = store, listener.Addr().String(), s.newGRPC(store)
	s.served = make(chan struct{})
	go func(g *grpc.Server, served chan struct{}) {
		defer close(served)
		if err := g.Serve(listener); err != nil {
			s.logger.Error("vector server stopped serving", "error", err)
		}
	}(s.grpc, s.served)
	s.logger.Info("vector server started", "addr", s.addr, "dir", s.cfg.Dir,
		"collections", len(store.Names()), "duration_ms", time.Since(began).Milliseconds())
	return nil
}

func (s *Server) newGRPC(store *engine.Engine) *grpc.Server {
	g := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		// Qdrant's clients ping an idle connection every ten seconds; gRPC's own
		// default takes that for an attack and hangs up.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 2 * time.Second, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(recoverPanics(s.logger), authenticate(s.cfg.APIKey), answerErrors(s.logger)),
		grpc.UnknownServiceHandler(unknownMethod(s.cfg.APIKey)),
	)
	pb.RegisterQdrantServer(g, health{})
	pb.RegisterCollectionsServer(g, &collections{store: store})
	pb.RegisterPointsServer(g, &points{store: store})
	return g
}

// Addr is the host and port that the server listens on, empty before Start.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Shutdown lets requests in progress finish until ctx ends, then cuts them off,
// flushes the points and gives the folder back. It may be called again, and
// without Start.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.engine == nil {
		s.stopped = true
		return nil
	}
	s.stopped = true
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		s.grpc.GracefulStop()
	}()
	select {
	case <-drained:
	case <-ctx.Done():
		s.grpc.Stop() // makes GracefulStop return too
		<-drained
	}
	<-s.served
	err := s.engine.Close()
	s.logger.Info("vector server stopped", "addr", s.addr)
	return err
}
