package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/inspect"
	"github.com/seed256f7767/spade/internal/olap"
)

func newShow(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a run, an environment, an episode or a document",
		Long: `Shows what the warehouse knows of an id, or of a run by its name: the code and hint of an environment,
the steps of an episode, and what each came from.`,
		Example: `  spade show demo
  spade show 3a265812-595f-5224-939c-f9101d6fcc94 --json`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withWarehouse(cmd, func(ctx context.Context, _ place, conn olap.Conn) error {
				subject, err := inspect.Find(ctx, conn, args[0])
				if errors.Is(err, inspect.ErrNotFound) {
					return withNext(err, "spade runs lists the runs")
				}
				if err != nil {
					return unknownTable(ctx, conn, err)
				}
				return inspect.Show(ctx, conn, subject, inspect.Output{Out: c.out, JSON: asJSON, Style: c.style(c.out)})
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
