package gym

import (
	"context"
	"io"

	"github.com/seed256f7767/spade/internal/gym/child"
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

// RuntimeStarlark is the runtime of sources in the functional form in Starlark.
const RuntimeStarlark = "starlark"

// MaxCode bounds a source.
const MaxCode = 256 << 10

// Source is the code of an environment.
type Source struct {
	// Runtime is the language: RuntimeStarlark.
	Runtime string
	Code    string
}

// ChildCommand is the hidden command under which the program's binary is a worker.
const ChildCommand = "__gym"

// Main is the entry point of a worker process. The binary must call it first thing when its first argument is
// ChildCommand, before anything else starts goroutines or opens files.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return child.Main(ctx, args, stdin, stdout, stderr)
}
