package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/play"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

func newEnv(c *cli) *cobra.Command {
	cmd := group("env", "Write, check, play and import environments", newEnvNew(c), newEnvCheck(c), newEnvPlay(c), newEnvImport(c), newEnvInstall(c))
	addWorkerFlags(cmd)
	return cmd
}

func newEnvPlay(c *cli) *cobra.Command {
	var seed uint64
	var file sourceFlags
	cmd := &cobra.Command{
		Use:   "play FILE",
		Short: "Play an environment by hand",
		Long: `Shows what the agent would see and takes actions from the terminal, or from a pipe. An action is a
number of the list or any text; :hint shows the hint, :help the other commands. The source runs in the
same sandboxed worker as in a run.`,
		Example: `  spade env play examples/environments/lights.star
  spade env play examples/environments/tower.py --seed 7
  printf '1\n2\n' | spade env play env.star --seed 7`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			l, log, err := c.load(cmd)
			if err != nil {
				return err
			}
			src, err := file.read(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			pool, err := app.StartPool(ctx, l.Config, l.Workers, []string{src.Package}, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx))) }()
			worker, err := pool.Open(ctx, src)
			if err != nil {
				if lacksModule(src, err.Error()) {
					err = withNext(err, bringsPackages())
				}
				return err
			}
			defer func() { err = errors.Join(err, worker.Close()) }()
			return play.Play(ctx, worker, play.Settings{
				In: c.in, Out: c.out, Seed: seed, Style: c.style(c.out), Prompt: screen.IsTerminal(c.in, c.getenv),
			})
		},
	}
	file.bind(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "env seed of the first episode")
	return cmd
}
