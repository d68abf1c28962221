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
	var from sqlSource
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "Query the warehouse",
		Long: `Runs one reading statement in ClickHouse's SQL on the warehouse; the default database is spade. Every
table and column has a comment: DESCRIBE rollouts. Statements that write, read files or reach the network
are refused.

The statement is the argument, or what --file or standard input holds. Its parameters, which it names as
{name:Type}, get their values by --param name=value, as with clickhouse-client's --param_name.`,
		Example: `  spade sql 'SELECT name, run_id, status FROM runs'
  spade sql 'SELECT iteration, avg(total_reward) FROM rollouts GROUP BY ALL ORDER BY 1' --format csv
  spade sql 'SELECT * FROM steps' --format parquet > steps.parquet
  spade sql --file analytics/sql/runs.sql
  spade sql --file analytics/sql/learning_curve.sql --param run=38f836dc-203e-5c45-acbf-24e66052c5f5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query, params, err := from.read(c, cmd, args)
			if err != nil {
				return err
			}
			return c.withWarehouse(cmd, func(ctx context.Context, p place, conn olap.Conn) error {
				set := sqlview.Settings{
					Out: c.out, Format: format, Terminal: screen.IsTerminal(c.out, c.getenv), Style: c.style(c.out), Limits: p.ReaderLimits,
					Params: params,
				}
				if set.Terminal {
					set.Columns, _ = screen.Size(c.out)
				}
				err := sqlview.Query(ctx, conn, query, set)
				if errors.Is(err, sqlview.ErrFormat) || errors.Is(err, sqlview.ErrBinary) {
					return usage(err)
				}
				return unknownTable(ctx, conn, badParameter(err))
			})
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok && strings.ContainsAny(name, " \n") {
			return withNext(usage(errors.New("spade sql: a query that begins with a comment is taken for a flag")),
				"spade sql --file FILE reads it from a file, spade sql -- QUERY takes it as it is")
		}
		return flagError(cmd, err)
	})
	cmd.Flags().StringVar(&format, "format", sqlview.Formats()[0], strings.Join(sqlview.Formats(), ", "))
	from.define(cmd)
	return cmd
}
