package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/eventview"
	"github.com/seed256f7767/spade/cmd/spade/internal/letters"
	"github.com/seed256f7767/spade/internal/bus"
)

// errLetters says that dead letters could not be appended again.
var errLetters = errors.New("dead letters cannot be retried")

func newDeadLetters(c *cli) *cobra.Command {
	return group("deadletters", "List records that could not be applied, and try them again", newDeadLettersList(c), newDeadLettersRetry(c))
}

// letterFlags are what list and retry have in common.
type letterFlags struct {
	run, topic string
	json       bool
}

func (f *letterFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.run, "run", "", "only records of this run, by name or id")
	cmd.Flags().StringVar(&f.topic, "topic", "", "only records of this topic")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON array")
}

// read lists the letters that the flags name.
func (f *letterFlags) read(ctx context.Context, log *bus.Client) ([]letters.Letter, error) {
	var q letters.Query
	if f.topic != "" {
		topic, err := eventview.Topic(f.topic)
		if err != nil {
			return nil, usage(err)
		}
		q.Topic = topic
	}
	if f.run != "" {
		run, err := app.FindRun(ctx, log, f.run)
		if err != nil {
			return nil, err
		}
		q.Run = run.ID
	}
	return letters.Read(ctx, log, q)
}

func newDeadLettersList(c *cli) *cobra.Command {
	var flags letterFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the dead letters",
		Long: `Lists the records that a consumer could not decode or apply: where each lies in the log, who met it, why,
and whether it was appended again. Their partitions have moved on.`,
		Example: `  spade deadletters list
  spade deadletters list --run demo --topic rollouts
  spade deadletters list --json | jq '.[] | select(.retried_as == null)'`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				list, err := flags.read(ctx, log)
				if err != nil {
					return err
				}
				if flags.json {
					return letters.WriteJSON(c.out, list)
				}
				if len(list) == 0 {
					_, err = fmt.Fprintln(c.err, "no dead letters")
					return err
				}
				return letters.Write(c.out, list)
			})
		},
	}
	flags.define(cmd)
	return cmd
}

func newDeadLettersRetry(c *cli) *cobra.Command {
	var (
		flags   letterFlags
		options letters.Options
		all     bool
	)
	cmd := &cobra.Command{
		Use:   "retry [ID...]",
		Short: "Append the records of dead letters again",
		Long: `Appends the records of dead letters, named by their ids or the beginnings of them, to their topics again,
byte for byte and under their keys. The consumers take up what they can apply now: after an update of the
program, or once what failed works again. What was retried is not retried twice without --again; what this
program cannot read either is refused, with the reason, and makes the exit code 1.`,
		Example: `  spade deadletters retry --all --dry-run
  spade deadletters retry 3a265812 91ffd0c2
  spade deadletters retry --all --run demo`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneWay(all, args); err != nil {
				return err
			}
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				list, err := flags.read(ctx, log)
				if err != nil {
					return err
				}
				if !all {
					if list, err = letters.Choose(list, args); err != nil {
						return withNext(err, "spade deadletters list shows them")
					}
				}
				done, err := letters.Retry(ctx, log, list, options)
				return errors.Join(c.printOutcomes(done, flags.json), err, refusedLetters(done))
			})
		},
	}
	flags.define(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all dead letters that --run and --topic leave")
	cmd.Flags().BoolVar(&options.DryRun, "dry-run", false, "say what would be done and append nothing")
	cmd.Flags().BoolVar(&options.Again, "again", false, "also what was appended again before")
	cmd.Flags().BoolVar(&options.Force, "force", false, "also what this program cannot read, for consumers that can")
	return cmd
}

// oneWay wants dead letters to be named in one way.
func oneWay(all bool, ids []string) error {
	switch {
	case all && len(ids) > 0:
		return withNext(usage(fmt.Errorf("spade deadletters retry: --all and the id %q exclude each other", ids[0])),
			"give the ids of dead letters, or --all, which --run and --topic narrow")
	case !all && len(ids) == 0:
		return withNext(usage(errors.New("spade deadletters retry: give the ids of dead letters, or --all")),
			"spade deadletters list shows them")
	}
	return nil
}

func (c *cli) printOutcomes(done []letters.Outcome, asJSON bool) error {
	if asJSON {
		return letters.WriteOutcomesJSON(c.out, done)
	}
	if len(done) == 0 {
		_, err := fmt.Fprintln(c.err, "no dead letters")
		return err
	}
	appended := 0
	for _, o := range done {
		if o.Action == letters.Appended {
			appended++
		}
	}
	err := letters.WriteOutcomes(c.out, done)
	if appended > 0 {
		_, err2 := fmt.Fprintf(c.err, "%d appended; the consumers that run take them up, the next spade verify sees whether they did\n", appended)
		err = errors.Join(err, err2)
	}
	return err
}

// refusedLetters is the error when letters were refused.
func refusedLetters(done []letters.Outcome) error {
	n := 0
	for _, o := range done {
		if o.Action == letters.Refused {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return withNext(fmt.Errorf("%w: %d of %d", errLetters, n, len(done)),
		"a newer program may read them; what no program can read stays in the dead letters")
}

var _ letters.Log = (*bus.Client)(nil)
