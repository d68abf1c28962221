package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/eventview"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/bus"
)

func newEvents(c *cli) *cobra.Command {
	return group("events", "Read the log", newEventsCat(c), newEventsTail(c))
}

// eventFlags are what cat and tail have in common.
type eventFlags struct {
	run  string
	json bool
}

func (f *eventFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.run, "run", "", "only events of this run, by name or id")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object an event, with its headers")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return eventview.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *cli) printer(f eventFlags) eventview.Printer {
	p := eventview.Printer{Out: c.out, JSON: f.json, Style: c.style(c.out)}
	if screen.IsTerminal(c.out, c.getenv) {
		p.Columns, _ = screen.Size(c.out)
	}
	return p
}

func newEventsCat(c *cli) *cobra.Command {
	var flags eventFlags
	cmd := &cobra.Command{
		Use:   "cat TOPIC",
		Short: "Print the events of a topic",
		Long: `Prints the events that the topic holds now, one partition after the other: partition@offset, time, type
and payload. Identifiers are UUIDs, hashes hexadecimal. The prefix "spade." of a topic may be left out.`,
		Example: `  spade events cat runs
  spade events cat environments --run demo --json | jq .payload.title`,
		Args: exactArgs("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, err := eventview.Topic(args[0])
			if err != nil {
				return usage(err)
			}
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				printed, unreadable, err := eventview.Cat(ctx, log, eventview.Query{Topic: topic, Run: flags.run}, c.printer(flags))
				if err == nil && printed+unreadable == 0 {
					_, err = fmt.Fprintf(c.err, "no events\n")
				}
				if err == nil && unreadable > 0 {
					_, err = fmt.Fprintf(c.err, "%d events cannot be decoded\n", unreadable)
				}
				return err
			})
		},
	}
	flags.define(cmd)
	return cmd
}

func newEventsTail(c *cli) *cobra.Command {
	var flags eventFlags
	var lines int64
	var once bool
	cmd := &cobra.Command{
		Use:   "tail TOPIC",
		Short: "Print the newest events of a topic and those that come",
		Example: `  spade events tail rollouts --run demo
  spade events tail policies --lines 3 --no-follow`,
		Args: exactArgs("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, err := eventview.Topic(args[0])
			if err != nil {
				return usage(err)
			}
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				return eventview.Tail(ctx, log, eventview.Query{Topic: topic, Run: flags.run}, c.printer(flags), max(0, lines), !once)
			})
		},
	}
	flags.define(cmd)
	cmd.Flags().Int64VarP(&lines, "lines", "n", 10, "records to begin with, of each partition")
	cmd.Flags().BoolVar(&once, "no-follow", false, "end instead of waiting for more")
	return cmd
}
