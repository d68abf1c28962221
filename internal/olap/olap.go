package olap

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/seed256f7767/spade/internal/secret"
)

// Config says where the warehouse is.
type Config struct {
	// URL is http://host:port or https://host:port, with an optional path. Required.
	URL string
	// User and Password log in. Empty: the server's default user.
	User     string
	Password secret.Text
	// CAFile holds the certificates to trust of an https:// server, in PEM. Empty: the system's.
	CAFile string
	// Database is where names without one are looked up. Empty: "default", which always exists.
	Database string
	// Connections bounds how many statements run at once. Zero: 16.
	Connections int
	// Timeout bounds one statement on the client's side, also when the context has no deadline. Zero: 5 minutes.
	Timeout time.Duration
}

const (
	defaultConnections = 16
	defaultTimeout     = 5 * time.Minute
	dialTimeout        = 5 * time.Second
)

// Conn is a pool of connections. It may be used concurrently and must be closed.
type Conn = driver.Conn

// Open makes a pool. It does not connect; see Ready. An https:// server is only spoken to when its certificate holds.
func Open(cfg Config) (Conn, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("clickhouse: %q is not an http:// or https:// address", redact(cfg.URL))
	}
	options := &clickhouse.Options{
		Protocol:    clickhouse.HTTP,
		Addr:        []string{hostPort(u)},
		HttpUrlPath: u.Path,
		Auth: clickhouse.Auth{
			Database: or(cfg.Database, "default"), Username: cfg.User, Password: cfg.Password.Reveal(),
		},
		DialTimeout:      dialTimeout,
		ReadTimeout:      or(cfg.Timeout, defaultTimeout),
		MaxOpenConns:     or(cfg.Connections, defaultConnections),
		MaxIdleConns:     or(cfg.Connections, defaultConnections),
		ConnMaxLifetime:  time.Hour,
		ConnOpenStrategy: clickhouse.ConnOpenInOrder,
	}
	if err := secure(options, cfg, u); err != nil {
		return nil, err
	}
	shared := &sharedTransport{addr: options.Addr[0], plain: u.Scheme != "https", most: options.MaxOpenConns}
	options.TransportFunc = shared.share
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("clickhouse at %s: %w", u.Host, err)
	}
	return &pool{Conn: conn, transport: shared}, nil
}

// Ready waits until the server answers or ctx ends. It returns at once when the server refuses the login.
func Ready(ctx context.Context, conn Conn) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		err := conn.Ping(ctx)
		if err == nil {
			return nil
		}
		if refused(err) {
			return fmt.Errorf("clickhouse: %w: check clickhouse.user and clickhouse.password: %w", ErrLogin, err)
		}
		if !Transient(err) {
			return fmt.Errorf("clickhouse: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("clickhouse: %w: %w", ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	port := "8123"
	if u.Scheme == "https" {
		port = "8443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// redact drops what an address may carry besides the place.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return u.Redacted()
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
