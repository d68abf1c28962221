package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/gateview"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/portable"
)

func newEnvCheck(c *cli) *cobra.Command {
	var opts gate.Options
	var asJSON bool
	var file sourceFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Run an environment's source through the acceptance gate",
		Long: `Judges the source as a run would and shows every check. The near-duplicate check is left out: it needs
the memory of a run. The exit code is 1 when the source is refused. --portable also wants that the source
uses only what Starlark and Python share, and that it plays alike in both.`,
		Example: `  spade env check env.star
  spade env check env.py
  spade env check lake.py --package gymnasium
  spade env check --portable --json env.star`,
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
			return c.judge(ctx, pool, src, opts, asJSON)
		},
	}
	file.bind(cmd)
	cmd.Flags().BoolVar(&opts.Portable, "portable", false, "also check that it runs alike in Starlark and Python")
	cmd.Flags().Uint64Var(&opts.Seed, "seed", 1, "seed of the env seeds and the random policy")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// judge puts a source through the gate and shows what came of it. A source whose calls take long takes its time, so each
// check is shown when it is there.
func (c *cli) judge(ctx context.Context, pool *gym.Pool, src gym.Source, opts gate.Options, asJSON bool) error {
	var findings []portable.Finding
	if opts.Portable {
		findings, opts.BothRuntimes = portable.Check(src.Code), true
	}
	var writing error
	if !asJSON {
		opts.Progress = func(r gate.CheckResult) {
			writing = errors.Join(writing, gateview.Line(c.out, r, findings, c.style(c.out)))
		}
	}
	report, err := gate.Check(ctx, pool, src, opts)
	if err = errors.Join(err, writing); err != nil {
		return err
	}
	if asJSON {
		err = gateview.JSON(c.out, report, findings)
	} else {
		err = gateview.Verdict(c.out, report, c.style(c.out))
		if err == nil && lacksModule(src, report.Reason) {
			_, err = fmt.Fprintln(c.out, c.style(c.out).Dim("next:"), bringsPackages())
		}
	}
	if err == nil && !report.Accepted {
		err = errRefused
	}
	return err
}
