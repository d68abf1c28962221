package gym

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Config is what a user sets.
type Config struct {
	// MaxWorkers bounds the worker processes that are in use at a time. Zero: one for each CPU.
	MaxWorkers int
	// Spares is how many fresh processes wait for their source. Zero: 2. Negative: none.
	Spares int
	// Sandbox is SandboxFull, SandboxLimits or SandboxNone. Empty: SandboxFull.
	Sandbox string
	// MemoryBytes is what a worker may use beyond what it has when it starts. Zero: 256 MiB.
	MemoryBytes uint64
	// CallTimeout and LoadTimeout are the backstop for one call and for loading a source. Zero: 10 s and 20 s.
	CallTimeout, LoadTimeout time.Duration
	// CPUTime ends a worker after that much CPU time over its life. Zero: 1 h.
	CPUTime time.Duration
	// Limits are the budgets and sizes of an environment. Zero fields: those of wire.DefaultLimits.
	Limits Limits
	// Python is where the Python runtime is found.
	Python PythonConfig
}

// PythonConfig is where the Python runtime is found. Nothing is looked for before the first Python source is opened.
type PythonConfig struct {
	// Interpreter is a path or a name on the PATH. Empty: python3.
	Interpreter string
	// Packages are folders of installed packages by name, each the site-packages folder of a virtual environment.
	Packages map[string]string
}

// Settings is what the program passes.
type Settings struct {
	// Logger gets one line for each start, stop and lost worker. Nil: none.
	Logger *slog.Logger
	// Command starts a worker. Empty: this binary with ChildCommand.
	Command []string
	// Meter counts what the pool does. Nil: nobody asks.
	Meter *Meter
}

// NewDefaultConfig returns the defaults written out.
func NewDefaultConfig() Config { return Config{}.withDefaults() }

func (c Config) withDefaults() Config {
	c.MaxWorkers = or(c.MaxWorkers, runtime.NumCPU())
	c.Spares = or(c.Spares, 2)
	c.Sandbox = or(c.Sandbox, SandboxFull)
	c.MemoryBytes = or(c.MemoryBytes, 256<<20)
	c.CallTimeout = or(c.CallTimeout, 10*time.Second)
	c.LoadTimeout = or(c.LoadTimeout, 20*time.Second)
	c.CPUTime = or(c.CPUTime, time.Hour)
	d := wire.DefaultLimits()
	l := &c.Limits
	l.LoadSteps, l.CallSteps, l.Depth = or(l.LoadSteps, d.LoadSteps), or(l.CallSteps, d.CallSteps), or(l.Depth, d.Depth)
	l.Observation, l.Info = or(l.Observation, d.Observation), or(l.Info, d.Info)
	l.Action, l.Hint, l.State = or(l.Action, d.Action), or(l.Hint, d.Hint), or(l.State, d.State)
	return c
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.MaxWorkers < 0 {
		errs = append(errs, fmt.Errorf("max workers is %d", c.MaxWorkers))
	}
	if c.MemoryBytes != 0 && c.MemoryBytes < 32<<20 {
		errs = append(errs, fmt.Errorf("a worker needs 32 MiB, not %d bytes", c.MemoryBytes))
	}
	if c.CallTimeout < 0 || c.LoadTimeout < 0 || c.CPUTime < 0 {
		errs = append(errs, errors.New("a time limit is negative"))
	}
	l := c.Limits
	if min(l.Depth, l.Observation, l.Info, l.Action, l.Hint, l.State) < 0 {
		errs = append(errs, errors.New("a limit is negative"))
	}
	if max(l.Observation, l.Info, l.Action, l.Hint, l.State) > 4<<20 {
		errs = append(errs, errors.New("a size limit is over 4 MiB"))
	}
	if _, ok := tierOf("", or(c.Sandbox, SandboxFull)); !ok {
		errs = append(errs, fmt.Errorf("sandbox %q is none of %s, %s, %s", c.Sandbox, SandboxFull, SandboxLimits, SandboxNone))
	}
	return errors.Join(errs...)
}
