package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/plugins/internal/generation"
	"github.com/seed256f7767/spade/plugins/internal/wire"
)

// Classes of errors on the host's side, beside those of package plugins.
var (
	// ErrHandshake: the process started but did not become a plugin. The particulars are in a *HandshakeError.
	ErrHandshake = errors.New("plugin handshake")
	// ErrCrashed: the process ended while it was needed. The particulars are in a *CrashError.
	ErrCrashed = errors.New("plugin crashed")
	// ErrShortStream: the plugin's answer stopped early or does not hold what its end mark counts.
	ErrShortStream = wire.ErrShort
	// ErrTooLarge: one prompt alone is larger than a message may be.
	ErrTooLarge = generation.ErrTooLarge
	// ErrClosed: Shutdown was called.
	ErrClosed = errors.New("plugin is shut down")
)

// HandshakeError says how a start failed.
type HandshakeError struct {
	Command string
	Line    string   // the first line on standard output that is no handshake, if any
	Exit    string   // how the process ended, or empty while it ran
	Stderr  []string // its last lines, at most 20
	Cause   error
}

func (e *HandshakeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s did not complete the handshake", e.Command)
	switch {
	case e.Line != "":
		fmt.Fprintf(&b, ": it printed %q to standard output first", e.Line)
	case e.Exit != "":
		fmt.Fprintf(&b, ": %s", e.Exit)
	case e.Cause != nil:
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	writeStderr(&b, e.Stderr)
	return b.String()
}

// Is makes errors.Is(err, ErrHandshake) true.
func (e *HandshakeError) Is(target error) bool { return target == ErrHandshake }

func (e *HandshakeError) Unwrap() error { return e.Cause }

// CrashError says how the process ended.
type CrashError struct {
	Exit   string
	Stderr []string // its last lines, at most 20
}

func (e *CrashError) Error() string {
	var b strings.Builder
	b.WriteString("plugin crashed: " + e.Exit)
	writeStderr(&b, e.Stderr)
	return b.String()
}

// Is makes errors.Is(err, ErrCrashed) true.
func (e *CrashError) Is(target error) bool { return target == ErrCrashed }

func writeStderr(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("; its last lines on standard error:")
	for _, l := range lines {
		fmt.Fprintf(b, "\n  %s", l)
	}
}
