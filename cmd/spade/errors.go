package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// errRefused ends a command whose own output has said why already.
var errRefused = errors.New("refused")

// usageError is a mistake in how the command was called or configured.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error { return &usageError{err} }

// nextError adds what to do about an error.
type nextError struct {
	err  error
	next string
}

func (e *nextError) Error() string { return e.err.Error() }
func (e *nextError) Unwrap() error { return e.err }

// withNext says what to do next about err; nil stays nil.
func withNext(err error, next string) error {
	if err == nil {
		return nil
	}
	return &nextError{err, next}
}

// report prints an error once, with what to do next, and gives the exit code.
func (c *cli) report(ctx context.Context, err error) int {
	if errors.Is(err, errRefused) {
		return exitFailure
	}
	style := c.style(c.err)
	text := err.Error()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		prefix := style.Bad("spade:")
		if i > 0 {
			prefix = "      "
		}
		fmt.Fprintln(c.err, prefix, screen.Escape(line))
	}
	if n, ok := errors.AsType[*nextError](err); ok {
		fmt.Fprintln(c.err, style.Dim(" next:"), screen.EscapeLines(n.next))
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}
