package gym

import (
	"context"
	"io"
	"time"

	"github.com/seed256f7767/spade/internal/gym/child"
	"github.com/seed256f7767/spade/internal/gym/jail"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// The messages of an environment's life, see package wire.
type (
	Outcome = wire.Outcome
	Cause   = wire.Cause
	Fault   = wire.Fault
	Meta    = wire.Meta
	Limits  = wire.Limits
	Reset   = wire.Reset
	Started = wire.Started
	Action  = wire.Action
	Stepped = wire.Stepped
)

// The outcomes of an episode, see package wire.
const (
	Ongoing       = wire.Ongoing
	Solved        = wire.Solved
	Failed        = wire.Failed
	AgentError    = wire.AgentError
	EnvError      = wire.EnvError
	VerifierError = wire.VerifierError
	Timeout       = wire.Timeout
	Overlong      = wire.Overlong
	Cancelled     = wire.Cancelled
	TextEncoding  = wire.TextEncoding
)

// The runtimes. Sources for RuntimeStarlark are in the functional form; RuntimePython also takes the class form and a plain
// gymnasium.Env.
const (
	RuntimeStarlark = "starlark"
	RuntimePython   = "python"
)

// MaxCode bounds a source.
const MaxCode = 256 << 10

// Source is the code of an environment.
type Source struct {
	// Runtime is the language: RuntimeStarlark or RuntimePython.
	Runtime string
	Code    string
	// Package names the installed packages that a Python source may import, a key of PythonConfig.Packages. Empty: the
	// standard library only.
	Package string
}

// Surroundings are what a Python process finds around it and an environment must not depend on. The acceptance gate plays
// a source in two workers that differ in all of them. Starlark has no access to any.
type Surroundings struct {
	// HashSeed is PYTHONHASHSEED, which the order of sets of texts depends on.
	HashSeed uint32
	// TimeZone and Locale are TZ and LC_ALL. Empty: UTC and C.UTF-8.
	TimeZone, Locale string
	// ClockShift is added to the wall clock that the environment reads.
	ClockShift time.Duration
	// SeedGlobals seeds the process-global generators, those of random and numpy and the system's, before each call of the
	// environment, by the episode's seed and how far it is, so that what uses them repeats itself.
	SeedGlobals bool
	// FreezeClock stops the wall clock that the environment reads, at the same moment in every process.
	FreezeClock bool
}

// ChildCommand is the hidden command under which the program's binary is a worker.
const ChildCommand = "__gym"

// JailCommand is the hidden command under which the program's binary confines itself and becomes a Python interpreter.
const JailCommand = jail.Command

// JailMain is the entry point under JailCommand, by the same rules as Main.
func JailMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return jail.Main(ctx, args, stdin, stdout, stderr)
}

// Main is the entry point of a worker process. The binary must call it first thing when its first argument is
// ChildCommand, before anything else starts goroutines or opens files.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return child.Main(ctx, args, stdin, stdout, stderr)
}
