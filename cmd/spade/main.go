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
	// Children of the program itself come first: they start often and must start fast, and a sandbox must be entered
	// before anything starts a goroutine.
	if len(os.Args) > 1 {
		if child, ok := children()[os.Args[1]]; ok {
			os.Exit(child(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// endings are the signals that ask the program to drain. A terminal that is closed asks too, unless nohup said that it must not.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// run is the whole program.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{in: stdin, out: stdout, err: stderr, environ: os.Environ(), called: os.Args[0]}
	return c.execute(ctx, args)
}
