package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/config"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// cli is what all commands share. Data goes to out; logs, progress and errors go to err.
type cli struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
	called   string // how the program was called; empty = by its name
	file     string // --config
}

// execute runs the command that args name and turns its error into an exit code.
func (c *cli) execute(ctx context.Context, args []string) int {
	root := newRoot(c)
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	if err := root.ExecuteContext(ctx); err != nil {
		return c.report(ctx, err)
	}
	return exitOK
}

// getenv reads the environment that the program was started with.
func (c *cli) getenv(name string) string {
	for _, pair := range slices.Backward(c.environ) {
		if n, v, _ := strings.Cut(pair, "="); n == name {
			return v
		}
	}
	return ""
}

// style is colourful where w is a terminal.
func (c *cli) style(w io.Writer) screen.Style { return screen.StyleOf(w, c.getenv) }

// load reads the configuration of a command and makes its logger.
func (c *cli) load(cmd *cobra.Command) (config.Loaded, *slog.Logger, error) {
	l, err := config.Load(config.Sources{
		Flags: config.ChangedFlags(cmd.Flags()), Environ: c.environ, File: c.file,
	})
	if err != nil {
		return l, nil, usage(err)
	}
	log, err := newLogger(c.err, l.Log)
	return l, log, err
}

// identified has every line name the process: what it is, and which of those there are.
func identified(log *slog.Logger, role string) *slog.Logger {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return log.With("role", role, "worker", fmt.Sprintf("%s/%d", host, os.Getpid()))
}

// newLogger writes to w as the configuration says.
func newLogger(w io.Writer, cfg config.Log) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, fmt.Errorf("read log level: %w", err)
	}
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}
