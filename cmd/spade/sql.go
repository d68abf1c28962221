package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/cmd/spade/internal/sqlview"
	"github.com/seed256f7767/spade/internal/olap"
)

func newSQL(c *cli) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Query the warehouse",
		Long: `Runs one reading statement in ClickHouse's SQL on the warehouse; the default database is spade. Every
table and column has a comment: DESCRIBE rollouts. Statements that write, read files or reach the network
are refused.`,
		Example: `  spade sql 'SELECT name, status FROM runs'
  spade sql 'SELECT iteration, avg(total_reward) FROM rollouts GROUP BY ALL ORDER BY 1' --format csv
  spade sql 'SELECT * FROM steps' --format parquet > steps.parquet`,
		Args: exactArgs("QUERY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withWarehouse(cmd, func(ctx context.Context, p place, conn olap.Conn) error {
				set := sqlview.Settings{
					Out: c.out, Format: format, Terminal: screen.IsTerminal(c.out, c.getenv), Style: c.style(c.out), Limits: p.ReaderLimits,
				}
				if set.Terminal {
					set.Columns, _ = screen.Size(c.out)
				}
				err := sqlview.Query(ctx, conn, args[0], set)
				if errors.Is(err, sqlview.ErrFormat) || errors.Is(err, sqlview.ErrBinary) {
					return usage(err)
				}
				return unknownTable(ctx, conn, err)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", sqlview.Formats()[0], strings.Join(sqlview.Formats(), ", "))
	return cmd
}
