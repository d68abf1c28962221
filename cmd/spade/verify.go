package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/verifyview"
	"github.com/seed256f7767/spade/consumers/verify"
)

// errDiffers says that something is not what the log makes it.
var errDiffers = errors.New("what is there differs from the log")

// errBehind says that not everything could be compared.
var errBehind = errors.New("not all was compared")

// verifyFlags are those of spade verify.
type verifyFlags struct {
	only string
	asIs bool
	json bool
}

func newVerify(c *cli) *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [RUN]",
		Short: "Compare the log with itself and with everything made of it",
		Long: `Reads the log of a run, or of everything, and checks that it is complete (every slot, rollout, regret,
policy version and evaluation that it promises has come to an end), and that the warehouse, the memory and
the checkpoints are what the log makes them: row by row, point by point, byte by byte. What an unfinished
run still owes is in flight and no fault. While other processes write, a consistent part is compared.

Projections that no process fills are brought up to date first. Those that other processes fill
are waited for while they come nearer. Exits with 0 when all is equal, with 1 when something differs, naming
the first differences and counting the others, or when a projection is behind the log and comes no nearer,
so that not all was compared, and with 2 for a mistake in the call.

With --as-is nothing is filled, waited for or written, so that the rights of a reader are enough: the log up
to now is compared with what is there now, the log with itself as a whole and each projection as far as it
says that it has come. What it has not come to is named and not compared, and the exit code is 1 then.`,
		Example: `  spade verify
  spade verify demo
  spade verify demo --only warehouse
  spade verify --as-is
  spade verify --json | jq .differences`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactArgs("RUN")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			areas, err := flags.areas()
			if err != nil {
				return err
			}
			return c.inPlace(cmd, nil, func(ctx context.Context, p place) error {
				v, err := c.verify(ctx, p, args, app.VerifyOptions{Only: areas, AsIs: flags.asIs})
				if err != nil {
					return err
				}
				return c.printVerification(v, flags.json, areas)
			})
		},
	}
	cmd.Flags().StringVar(&flags.only, "only", "", "verify only these, separated by commas: "+strings.Join(verify.Areas(), ", "))
	cmd.Flags().BoolVar(&flags.asIs, "as-is", false, "compare the log up to now with what is there: fill nothing, wait for nothing, write nothing")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON object")
	return cmd
}

func (f verifyFlags) areas() ([]string, error) {
	if f.only == "" {
		return nil, nil
	}
	areas := strings.Split(f.only, ",")
	for _, a := range areas {
		if !slices.Contains(verify.Areas(), a) {
			return nil, usage(fmt.Errorf("--only %q: there are %s", a, strings.Join(verify.Areas(), ", ")))
		}
	}
	return areas, nil
}

// verify runs the verification and shows how far it is.
func (c *cli) verify(ctx context.Context, p place, args []string, o app.VerifyOptions) (v app.Verification, err error) {
	s, err := app.Open(ctx, p.settings, p.At, p.log)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	if len(args) > 0 {
		run, err := app.FindRun(ctx, s.Bus, args[0])
		if err != nil {
			return v, err
		}
		o.Run = &run
	}
	bars := &verifyBars{set: c.progressSettings(), last: time.Now()}
	o.Progress = bars.show
	v, err = s.VerifyAll(ctx, o)
	if errors.Is(err, app.ErrNeverFilled) {
		err = withNext(err, "spade verify without --as-is fills it")
	}
	return v, errors.Join(err, bars.close())
}

// verifyBars shows one bar after the other on a terminal, and a line every so often in a pipe.
type verifyBars struct {
	set  progress.Settings
	what string
	bar  *progress.Bar
	last time.Time // of the last line in a pipe; of the beginning before
}

// lineEvery is how often a pipe is told how far the verification is.
const lineEvery = 5 * time.Second

func (b *verifyBars) show(what string, done, total int64) {
	if !b.set.Terminal {
		b.line(what, done, total)
		return
	}
	if what != b.what {
		_ = b.close()
		b.what, b.bar = what, progress.NewBar(b.set, what, progress.Items)
	}
	_ = b.bar.Set(done, total) // a bar that cannot be drawn is no reason to stop
}

func (b *verifyBars) line(what string, done, total int64) {
	now := time.Now()
	if now.Sub(b.last) < lineEvery {
		return
	}
	b.last = now
	of := ""
	if total > 0 {
		of = " of " + progress.Items(total)
	}
	_, _ = fmt.Fprintf(b.set.Out, "%s: %s%s\n", what, progress.Items(done), of)
}

func (b *verifyBars) close() error {
	if b.bar == nil {
		return nil
	}
	err := b.bar.Close()
	b.bar = nil
	return err
}

func (c *cli) printVerification(v app.Verification, asJSON bool, areas []string) error {
	var err error
	if asJSON {
		err = verifyview.WriteJSON(c.out, v)
	} else {
		err = verifyview.View{Out: c.out, Style: c.style(c.out), Areas: areas}.Write(v)
	}
	switch {
	case err != nil:
		return err
	case v.Total == 0 && len(v.Behind) > 0 && v.AsIs:
		return withNext(fmt.Errorf("%w: %s", errBehind, strings.Join(v.Behind, "; ")),
			"spade verify without --as-is waits for those who fill it, or fills it itself")
	case v.Total == 0 && len(v.Behind) > 0:
		return withNext(fmt.Errorf("%w: %s", errBehind, strings.Join(v.Behind, "; ")),
			"see what the workers that fill it say; spade verify again once they get on, or end them all: then spade verify fills it itself")
	case v.Total == 0:
		return nil
	}
	return withNext(fmt.Errorf("%w in %d places; the first is in the %s", errDiffers, v.Total, v.Differences[0]), remedy(v))
}

// remedy says what can be done about what was found.
func remedy(v app.Verification) string {
	found := map[string]bool{}
	for _, s := range v.Sums {
		found[s.Area] = true
	}
	var steps []string
	var rebuild []string
	for _, area := range []string{verify.AreaWarehouse, verify.AreaMemory} {
		if found[area] {
			rebuild = append(rebuild, "--"+area)
		}
	}
	if slices.ContainsFunc(v.Letters, func(l verify.Letter) bool { return !l.Retried }) {
		steps = append(steps, "spade deadletters retry --all --dry-run shows which dead letters can be applied now")
	}
	if rebuild != nil {
		steps = append(steps, "spade rebuild "+strings.Join(rebuild, " ")+" makes them anew from the log")
	}
	if found[verify.AreaCheckpoints] {
		steps = append(steps, "put the missing checkpoint files back, or train from the version before")
	}
	if found[verify.AreaLog] {
		steps = append(steps, "nothing can be taken out of the log: spade events cat shows what it holds, and a run that is not finished goes on when it is run again")
	}
	return strings.Join(steps, "\n       ")
}
