// Command spade runs the self-play loop and everything around it. Begin with newRoot, the tree of commands.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program. The children it starts of itself are dispatched before any command is built: they start
// often and must start fast.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if child, ok := children()[args[0]]; ok {
			return child(ctx, args[1:], stdin, stdout, stderr)
		}
	}
	c := &cli{in: stdin, out: stdout, err: stderr, environ: os.Environ()}
	return c.execute(ctx, args)
}
