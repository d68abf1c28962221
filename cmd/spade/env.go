package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/play"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

func newEnv(c *cli) *cobra.Command {
	cmd := group("env", "Check, play, import and install environments", newEnvCheck(c), newEnvPlay(c), newEnvImport(c), newEnvInstall(c))
	addWorkerFlags(cmd)
	return cmd
}

func newEnvPlay(c *cli) *cobra.Command {
	var seed uint64
	cmd := &cobra.Command{
		Use:   "play FILE",
		Short: "Play an environment by hand",
		Long: `Shows what the agent would see and takes actions from the terminal, or from a pipe. An action is a
number of the list or any text; :hint shows the hint, :help the other commands. The source runs in the
same sandboxed worker as in a run.`,
		Example: `  spade env play examples/suites/development/science/switch-circuit.star
  printf '1\n2\n' | spade env play env.star --seed 7`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			l, log, err := c.load(cmd)
			if err != nil {
				return err
			}
			src, err := readSource(args[0], runtimeOf(args[0]))
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			pool, err := app.StartPool(ctx, l.Config, l.Workers, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx))) }()
			worker, err := pool.Open(ctx, src)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, worker.Close()) }()
			return play.Play(ctx, worker, play.Settings{
				In: c.in, Out: c.out, Seed: seed, Style: c.style(c.out), Prompt: screen.IsTerminal(c.in, c.getenv),
			})
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "env seed of the first episode")
	return cmd
}

// runtimeOf is the language of a source by its file's name.
func runtimeOf(path string) string {
	if filepath.Ext(path) == ".py" {
		return "python"
	}
	return "starlark"
}
