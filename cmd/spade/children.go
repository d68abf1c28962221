package main

import (
	"context"
	"io"

	chdb "github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/embedded/supervisor"
	"github.com/seed256f7767/spade/internal/gym"
)

// child is the entry point of a process that the program starts of itself.
type child func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// children is every hidden entry point by its first argument.
func children() map[string]child {
	return map[string]child{
		chdb.Command:       chdb.Main,
		gym.ChildCommand:   gym.Main,
		gym.JailCommand:    gym.JailMain,
		supervisor.Command: supervisor.Main,
	}
}
