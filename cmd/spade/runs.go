package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/runlist"
	"github.com/seed256f7767/spade/internal/bus"
)

func newRuns(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs of the log",
		Long: `Lists runs and imported pools in the order in which they were begun. One without an end in the log is
running while a process is in its consumer groups, which one that was killed leaves after some seconds,
and interrupted otherwise, or waiting when no iteration of it is closed yet; an import is unfinished. The
command that began it takes it up, and so do workers.`,
		Example: `  spade runs
  spade runs --json`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				list, err := runlist.Read(ctx, log)
				if err == nil {
					err = runlist.Interrupted(ctx, list, app.Working(log))
				}
				switch {
				case err != nil:
					return err
				case asJSON:
					return runlist.WriteJSON(c.out, list)
				case len(list) == 0:
					_, err = fmt.Fprintln(c.err, "no runs yet; spade run begins one")
					return err
				}
				return runlist.Write(c.out, list)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}
