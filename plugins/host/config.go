package host

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
)

// Config says which plugin to run and how.
type Config struct {
	// Command is the program and its arguments. Required; it is not read by a shell.
	Command []string
	// PassEnv names the variables that the plugin gets from our environment, beside PATH, LANG, LC_ALL, TZ and TMPDIR.
	PassEnv []string
	// Env holds further variables as NAME=value.
	Env []string
	// Dir is the working folder. Empty means ours.
	Dir string
	// SocketDir is where the plugin's private folder is made. Empty means the system's temporary folder. Folders that a
	// killed host left there are removed.
	SocketDir string
	// StartTimeout bounds the time until the handshake. Zero means 30 s.
	StartTimeout time.Duration
	// StopGrace bounds each of the steps after a Shutdown was answered: exit, then TERM. Zero means 10 s.
	StopGrace time.Duration
}

// Settings is what code passes.
type Settings struct {
	Logger *slog.Logger // nil: nothing is logged
}

// ErrConfig is the class of configurations that cannot be used.
var ErrConfig = errors.New("plugin configuration")

// Validate names every problem at once.
func (c *Config) Validate() error {
	var errs []error
	if len(c.Command) == 0 || c.Command[0] == "" {
		errs = append(errs, fmt.Errorf("%w: no command", ErrConfig))
	}
	for _, e := range c.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			errs = append(errs, fmt.Errorf("%w: env %q is not NAME=value", ErrConfig, name))
		}
	}
	if c.StartTimeout < 0 || c.StopGrace < 0 {
		errs = append(errs, fmt.Errorf("%w: negative timeout", ErrConfig))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.StartTimeout == 0 {
		c.StartTimeout = 30 * time.Second
	}
	if c.StopGrace == 0 {
		c.StopGrace = 10 * time.Second
	}
	if c.SocketDir == "" {
		c.SocketDir = os.TempDir()
	}
	return c
}

// environment is the allow-list applied to our own environment.
func (c *Config) environment() []string {
	names := append([]string{"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR"}, c.PassEnv...)
	var env []string
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return append(env, c.Env...)
}
