package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// errDiffers says that a projection is not what the log makes it.
var errDiffers = errors.New("the warehouse differs from the log")

func newVerify(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "verify RUN",
		Short: "Compare a run's log with the warehouse",
		Long: `Brings the warehouse up to date, folds the run's log anew and compares the two, table by table and row by
row. Exits with 1 when they differ, and names where.`,
		Example: `  spade verify demo`,
		Args:    exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.inPlace(cmd, nil, func(ctx context.Context, p place) (err error) {
				s, err := app.Open(ctx, p.settings, p.At, p.log)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
				run, err := app.FindRun(ctx, s.Bus, args[0])
				if err != nil {
					return err
				}
				if err := s.StartSinks(ctx); err != nil {
					return err
				}
				v, err := s.Verify(ctx, run)
				if err != nil {
					return err
				}
				return c.printVerification(v)
			})
		},
	}
}

// maxDifferences is how many differences are named; the rest is counted.
const maxDifferences = 20

func (c *cli) printVerification(v app.Verification) error {
	fmt.Fprintf(c.out, "log digest  %x\nevents      %d\n", v.Log.Sum(), v.Log.Len())
	for _, r := range v.Log.Repeats() {
		fmt.Fprintf(c.out, "repeated    %s in %s/%d at %d has another payload; the first counts\n", r.ID, r.Topic, r.Partition, r.Offset)
	}
	if n := v.Log.Nondeterministic(); n > 0 {
		fmt.Fprintf(c.out, "a clock had a part in %d events\n", n)
	}
	for i, d := range v.Differences {
		if i == maxDifferences {
			fmt.Fprintf(c.out, "… and %d more\n", len(v.Differences)-i)
			break
		}
		fmt.Fprintf(c.out, "differs     %s\n", screen.Escape(d.String()))
	}
	if len(v.Differences) > 0 {
		return fmt.Errorf("%w in %d places", errDiffers, len(v.Differences))
	}
	_, err := fmt.Fprintln(c.out, "the warehouse equals the log")
	return err
}
