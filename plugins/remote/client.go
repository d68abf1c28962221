package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/internal/generation"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Classes of errors, for errors.Is, beside those of package plugins.
var (
	// ErrRefused: the policy worker refused the token.
	ErrRefused = errors.New("policy worker refused the token")
	// ErrTLS: one side speaks TLS and the other does not, or the server's certificate is not trusted.
	ErrTLS = errors.New("no TLS session with the policy worker")
)

// ClientConfig is what a user writes.
type ClientConfig struct {
	// Addr is the host:port of a Server. Required.
	Addr string
	// Token is what the server was given.
	Token secret.Text
	// CAFile holds the certificates that the server is trusted by. Empty: no TLS.
	CAFile string
}

// Client asks a Server for one run. It may be used concurrently; Close ends it.
type Client struct {
	conn *grpc.ClientConn
	rpc  pluginpb.TrainerClient
	md   metadata.MD
	addr string
	log  *slog.Logger
}

var _ policy.Generator = (*Client)(nil)

// Dial prepares the connection, which is made when it is first needed.
func Dial(cfg ClientConfig, run uuid.UUID, log *slog.Logger) (*Client, error) {
	creds, err := cfg.credentials()
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(
		cfg.Addr, grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(plugins.MaxMessageBytes), grpc.MaxCallSendMsgSize(plugins.MaxMessageBytes)),
		// A server that went away without a word is noticed within seconds, also while it owes an answer.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
	)
	if err != nil {
		return nil, fmt.Errorf("policy worker %s: %w", cfg.Addr, err)
	}
	md := metadata.Pairs(runKey, run.String())
	if !cfg.Token.IsZero() {
		md.Set(tokenKey, bearer+cfg.Token.Reveal())
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Client{conn: conn, rpc: pluginpb.NewTrainerClient(conn), md: md, addr: cfg.Addr, log: log}, nil
}

func (c ClientConfig) credentials() (credentials.TransportCredentials, error) {
	if c.CAFile == "" {
		return insecure.NewCredentials(), nil
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("policy worker's address: %w", err)
	}
	certs, err := trust.Config(c.CAFile, host)
	if err != nil {
		return nil, fmt.Errorf("policy worker %s: %w", c.Addr, err)
	}
	return credentials.NewTLS(certs), nil
}

// Generate has the prompts answered. A server that is away, or does not serve the run yet, is waited for until ctx ends:
// an answer does not depend on when it is given.
func (c *Client) Generate(
	ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt,
) (out []policy.Completion, err error) {
	err = c.patiently(ctx, func(ctx context.Context) error {
		out, err = generation.Ask(ctx, c.rpc, c.class, role, version, prompts)
		return err
	})
	return out, err
}

// Info describes the plugin that answers for the run. It waits as Generate does.
func (c *Client) Info(ctx context.Context) (info plugins.Info, err error) {
	err = c.patiently(ctx, func(ctx context.Context) error {
		in, err := c.rpc.Info(ctx, &pluginpb.InfoRequest{})
		if err != nil {
			return c.class(err)
		}
		info = plugins.Info{
			Name: in.Name, Version: in.Version, Roles: in.Roles, Device: in.Device, Capabilities: in.Capabilities,
			CheckpointFormat: in.CheckpointFormat,
		}
		return nil
	})
	return info, err
}

// patiently calls fn until the server answers, ctx ends, or waiting would not help.
func (c *Client) patiently(ctx context.Context, fn func(ctx context.Context) error) error {
	call := metadata.NewOutgoingContext(ctx, c.md)
	warned, suspicious := false, 0
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := fn(call)
		pause, again := later(err, wait)
		switch {
		case !again && err != nil && ctx.Err() != nil:
			return fmt.Errorf("ask policy worker %s: %w", c.addr, err)
		case !again:
			return err
		}
		// A server that is killed in the middle of a handshake looks like one that speaks TLS to a client that does not.
		if suspicious++; !looksLikeTLS(err) {
			suspicious = 0
		}
		if suspicious == handshakes {
			return c.noTLS(err)
		}
		if !warned {
			warned = true
			c.log.Warn("policy worker does not answer, waiting for it", "addr", c.addr, "error", err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): // not all of a server's clients at once
		case <-ctx.Done():
			return fmt.Errorf("ask policy worker %s: %w: %w", c.addr, ctx.Err(), err)
		}
	}
}

// errAway: the server cannot be reached, or went away while it owed an answer.
var errAway = errors.New("policy worker is away")

func (c *Client) class(err error) error {
	switch status.Code(err) {
	case codes.Unavailable:
		for _, sign := range []string{"x509:", "tls: first record"} {
			if strings.Contains(err.Error(), sign) {
				return c.noTLS(err)
			}
		}
		return fmt.Errorf("%w: %s: %w", errAway, c.addr, err)
	case codes.Unauthenticated:
		return fmt.Errorf("%w: %s: set policy.token (SPADE_POLICY_TOKEN) as it has it", ErrRefused, c.addr)
	}
	return plugins.FromStatus(err)
}

// handshakes is how many in a row must look as if one side only spoke TLS before that is believed.
const handshakes = 4

// looksLikeTLS reports whether an error may come of one side speaking TLS alone.
func looksLikeTLS(err error) bool {
	return strings.Contains(err.Error(), "authentication handshake failed") || strings.Contains(err.Error(), "server preface")
}

func (c *Client) noTLS(err error) error {
	return fmt.Errorf("%w: %s: set policy.ca to the authority of its certificate, or to nothing where it has none: %w", ErrTLS, c.addr, err)
}

// later reports whether an error goes away by itself, and when to look.
func later(err error, wait time.Duration) (time.Duration, bool) {
	if retry, ok := errors.AsType[*plugins.RetryAfterError](err); ok {
		return max(retry.After, 10*time.Millisecond), true
	}
	return wait, errors.Is(err, errAway)
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
