package kafka

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/seed256f7767/spade/internal/secret"
)

// Mechanism is the SASL mechanism that clients must use. PLAIN is left out on
// purpose: kfake lets an unknown user with an empty password in through it.
const Mechanism = "SCRAM-SHA-256"

// Config is what the owner of the data folder decides.
type Config struct {
	// Dir holds the log. It is created with mode 0700. Required.
	Dir string
	// Addr is the loopback host:port to listen on; port 0 takes a free one.
	// Empty means 127.0.0.1:0.
	Addr string
	// User and Password are what clients present by SCRAM-SHA-256. Required.
	User     string
	Password secret.Text
	// SyncWrites calls fsync after every batch. Off, as Kafka's own default:
	// the operating system holds acknowledged batches, so a killed process
	// loses nothing and a power cut may.
	SyncWrites bool
}

// Settings is what the code passes.
type Settings struct {
	// Logger receives the broker's warnings. Nil drops them.
	Logger *slog.Logger
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("embedded kafka: no data folder given"))
	}
	if c.User == "" || c.Password.IsZero() {
		errs = append(errs, errors.New("embedded kafka: user and password are required"))
	}
	if err := checkLoopback(c.addr()); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c Config) addr() string {
	if c.Addr == "" {
		return "127.0.0.1:0"
	}
	return c.Addr
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("embedded kafka: address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("embedded kafka: address %q is not a loopback address", addr)
	}
	return nil
}
