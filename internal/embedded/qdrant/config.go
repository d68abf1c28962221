package qdrant

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/seed256f7767/spade/internal/secret"
)

const (
	// protocolVersion is the Qdrant version whose API is served. Clients compare
	// it with their own and want the same major and a minor one apart at most.
	protocolVersion = "1.17.1"
	// maxMessage bounds one request and one answer.
	maxMessage = 64 << 20
	// maxStreams bounds the requests in progress on one connection.
	maxStreams = 256
)

// Config is what a user may set.
type Config struct {
	// Dir is the folder that holds the points. It is created when missing.
	Dir string
	// Addr is the host and port to listen on; port 0 takes a free one. Only
	// loopback addresses are accepted: the protocol is not encrypted.
	Addr string
	// APIKey is what every request must carry in its api-key header, or after
	// "Bearer " in authorization. Empty lets every local process in.
	APIKey secret.Text
	// MaxVectorBytes bounds the memory that vectors take; zero means 4 GiB.
	MaxVectorBytes int64
}

// NewDefaultConfig is a server on a free loopback port.
func NewDefaultConfig() Config { return Config{Addr: "127.0.0.1:0"} }

// Validate reports everything that is wrong with the config.
func (c Config) Validate() error {
	var all []error
	if c.Dir == "" {
		all = append(all, errors.New("vector server: no folder given"))
	}
	if c.MaxVectorBytes < 0 {
		all = append(all, errors.New("vector server: the memory limit is negative"))
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		all = append(all, fmt.Errorf("vector server address %q: %w", c.Addr, err))
	} else if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		all = append(all, fmt.Errorf("vector server address %q: not a loopback address", c.Addr))
	}
	return errors.Join(all...)
}

// Settings is what code passes to New.
type Settings struct {
	Logger *slog.Logger
}
