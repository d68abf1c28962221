package clickhouse

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/internal/secret"
)

const (
	// Reader is the name of the user who may only read.
	Reader = "reader"
	// DefaultDatabase is the one in which statements run when a client names none.
	DefaultDatabase = "spade"
)

// Config is what a user may set.
type Config struct {
	// Dir is the folder that holds the tables. It is created when missing. Required.
	Dir string
	// Addr is the loopback host and port to listen on; port 0 takes a free one. Empty: 127.0.0.1:0.
	Addr string
	// Library says where libchdb is.
	Library chdblib.Config
	// User and Password are the platform's own, with all rights. Required.
	User     string
	Password secret.Text
	// ReaderPassword lets Reader in. Empty: there is no such user.
	ReaderPassword secret.Text
	// Database is made at the start. Empty: DefaultDatabase.
	Database string
	// ReaderLimits bound each statement of Reader.
	ReaderLimits sqlguard.Limits
	// MaxMemory bounds all statements together, in bytes. Zero: the engine's own default, most of the machine.
	MaxMemory int64
}

// Settings are what code passes.
type Settings struct {
	// Logger receives what the child prints. Nil drops it.
	Logger *slog.Logger
	// Command begins the child's argument list. Nil: this executable with child.Command.
	Command []string
	// Zone is the server's time zone, such as "Asia/Seoul". Empty: UTC.
	Zone string
}

// Validate reports everything that is wrong with the config.
func (c Config) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("no data folder given"))
	}
	if c.User == "" || c.Password.IsZero() {
		errs = append(errs, errors.New("user and password are required"))
	}
	if c.User == Reader {
		errs = append(errs, fmt.Errorf("the user may not be called %s", Reader))
	}
	if err := checkLoopback(c.addr()); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("embedded clickhouse: %w", err)
	}
	return nil
}

func (c Config) addr() string {
	if c.Addr == "" {
		return "127.0.0.1:0"
	}
	return c.Addr
}

func (c Config) database() string {
	if c.Database == "" {
		return DefaultDatabase
	}
	return c.Database
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("address %q: only loopback addresses are served", addr)
	}
	return nil
}
