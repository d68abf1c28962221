package vector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	// clientVersion is the Qdrant version of the client library in go.mod.
	clientVersion = "1.17.1"
	// maxMessage bounds one request and one answer.
	maxMessage = 64 << 20
)

// Client talks to one vector store. Its methods may be called concurrently;
// Close it to end its connections.
type Client struct {
	cfg    Config
	qdrant *pb.Client
	logger *slog.Logger
	peer   *peer

	mu   sync.Mutex     // guards dims
	dims map[string]int // vector size of each collection that was ensured
}

// New checks the config. It does not connect: the first call does.
func New(cfg Config, set Settings) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	host, port, err := cfg.hostPort()
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
	}
	p, err := newPeer(cfg, host)
	if err != nil {
		return nil, err
	}
	options = append(options, grpc.WithTransportCredentials(p))
	if !cfg.APIKey.IsZero() {
		// The library would send the key as well, and say on the default logger
		// that the connection is not encrypted; on loopback that is as it should be.
		options = append(options, grpc.WithChainUnaryInterceptor(withKey(cfg)))
	}
	q, err := pb.NewClient(&pb.Config{
		Host: host, Port: port, PoolSize: 1, SkipCompatibilityCheck: true, GrpcOptions: options,
	})
	if err != nil {
		return nil, fmt.Errorf("vector store client: %w", err)
	}
	logger := set.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Client{cfg: cfg, qdrant: q, logger: logger, peer: p, dims: map[string]int{}}, nil
}

func withKey(cfg Config) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return invoke(metadata.AppendToOutgoingContext(ctx, "api-key", cfg.APIKey.Reveal()), method, req, reply, cc, opts...)
	}
}

// Ready waits until the store answers and checks its version. It fails with
// *WrongVersionError, ErrUnauthorized or ErrUnavailable.
func (c *Client) Ready(ctx context.Context) error {
	var server string
	err := c.call(ctx, "vector store health", func(ctx context.Context) error {
		reply, err := c.qdrant.GetQdrantClient().HealthCheck(ctx, &pb.HealthCheckRequest{})
		server = reply.GetVersion()
		return err
	})
	if err != nil {
		return err
	}
	if !compatible(server) {
		return &WrongVersionError{Addr: c.cfg.Addr, Server: server, Client: clientVersion}
	}
	return nil
}

// compatible is Qdrant's rule, without the library's habit of logging.
func compatible(server string) bool {
	want, err := pb.ParseVersion(clientVersion)
	if err != nil {
		return false
	}
	got, err := pb.ParseVersion(server)
	if err != nil {
		return false
	}
	apart := want.Minor - got.Minor
	return want.Major == got.Major && apart >= -1 && apart <= 1
}

// Close ends the connections.
func (c *Client) Close() error {
	if err := c.qdrant.Close(); err != nil {
		return fmt.Errorf("close vector store client: %w", err)
	}
	return nil
}

// call runs one request with the request timeout, and again while the store
// does not answer: every request of this package may be repeated.
func (c *Client) call(ctx context.Context, op string, fn func(context.Context) error) error {
	const first, longest = 20 * time.Millisecond, time.Second
	giveUp := time.Now().Add(c.cfg.RetryFor)
	for pause := first; ; pause = min(2*pause, longest) {
		err := c.once(ctx, fn)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", op, ctx.Err())
		}
		if failed := c.peer.failed(ctx, err); failed != nil {
			return fmt.Errorf("%s: %w", op, failed)
		}
		if !passing(err) || time.Now().Add(pause).After(giveUp) {
			return classify(op, err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // jitter of a back-off, not of a run
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", op, errors.Join(ctx.Err(), classify(op, err)))
		}
	}
}

func (c *Client) once(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return fn(ctx)
}

// passing reports an error that the next try may not have.
func passing(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.Aborted
}
