package gym

import (
	"context"
	"fmt"
	"os"
	"strings"
)

const holderCommand = "__holder"

// holderMain is a process that holds two busy workers, says their numbers and waits to be killed.
func holderMain() int {
	ctx := context.Background()
	p, err := NewPool(Config{Spares: -1}, Settings{})
	if err != nil {
		return 1
	}
	if err := p.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for range 2 {
		w, err := p.Open(ctx, Source{Runtime: RuntimeStarlark, Code: endless})
		if err != nil {
			return 1
		}
		if _, err := w.Reset(ctx, []Reset{{}}); err != nil {
			return 1
		}
		fmt.Println(w.proc.cmd.Process.Pid)
		go w.Step(ctx, []Action{{Text: "up"}}) //nolint:errcheck // it never answers
	}
	select {}
}

// endless is a source whose step takes hours in a few interpreter steps, so that the worker never looks at its input.
var endless = strings.Replace(counting, `    if action == "up":`, `    x = 3
    for _ in range(64):
        x = x * x
    if action == "up":`, 1)
