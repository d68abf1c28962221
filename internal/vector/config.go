package vector

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/seed256f7767/spade/internal/secret"
)

// Config is where the vector store is.
type Config struct {
	// Addr is the host and port of the gRPC endpoint.
	Addr string
	// APIKey is sent with every request; empty sends none.
	APIKey secret.Text
	// TLS encrypts the connection, to a server whose certificate holds.
	TLS bool
	// CAFile holds the certificates to trust, in PEM. Empty: the system's.
	CAFile string
	// Timeout bounds one request; zero means 30 s.
	Timeout time.Duration
	// RetryFor is how long a store that does not answer is waited for before a
	// call fails with ErrUnavailable; zero means 30 s, negative not at all.
	RetryFor time.Duration
}

const (
	defaultTimeout  = 30 * time.Second
	defaultRetryFor = 30 * time.Second
)

// Validate reports everything that is wrong with the config.
func (c Config) Validate() error {
	var all []error
	if _, _, err := c.hostPort(); err != nil {
		all = append(all, err)
	}
	if c.CAFile != "" && !c.TLS {
		all = append(all, errors.New("vector store: there are certificates to trust and no TLS; set qdrant.tls"))
	}
	if c.Timeout < 0 {
		all = append(all, errors.New("vector store: the request timeout is negative"))
	}
	return errors.Join(all...)
}

func (c Config) hostPort() (host string, port int, err error) {
	host, p, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return "", 0, fmt.Errorf("vector store address %q: %w", c.Addr, err)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < 1 || port > 65535 || host == "" {
		return "", 0, fmt.Errorf("vector store address %q: want HOST:PORT", c.Addr)
	}
	return host, port, nil
}

func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.RetryFor == 0 {
		c.RetryFor = defaultRetryFor
	}
	return c
}

// Settings is what code passes to New.
type Settings struct {
	Logger *slog.Logger
}
