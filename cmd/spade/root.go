package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/config"
)

// newRoot builds the tree of commands.
func newRoot(c *cli) *cobra.Command {
	root := &cobra.Command{
		Use:   "spade",
		Short: "Self-play in synthetic executable environments, on an event log",
		Long: `spade trains one model in two roles: a designer that writes environments as code, and an agent that
plays them with and without a hint. Everything that happens is an event on Kafka; the warehouse
(ClickHouse) and the memory (Qdrant) are projections of it. Without any settings all three run
embedded, with their data under ./.spade.`,
		Example: `  spade corpus add examples/corpus     ingest the documents that ground the designer
  spade run --iterations 5             run the loop
  spade sql 'SELECT * FROM runs'       query what happened
  spade doctor                         check this machine`,
		Args:                       exactArgs(),
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 3,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	shared := map[string]bool{"data": true, "log.level": true, "log.format": true}
	config.BindFlags(root.PersistentFlags(), func(f config.Field) bool { return shared[f.Key] })
	root.PersistentFlags().StringVar(&c.file, "config", "", "YAML file of settings (default ./spade.yaml where it exists)")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newUp(c), newRun(c), newWorker(c), newCorpus(c), newEnv(c), newEvents(c), newSQL(c), newRuns(c), newShow(c), newDigest(c), newVerify(c), newDeadLetters(c), newRebuild(c),
		newInstall(c), newDoctor(c), newConfig(c), newVersion(c), newCompletion(c),
	)
	return root
}

// flagError says of a mistake in the flags where they are listed.
func flagError(cmd *cobra.Command, err error) error {
	return withNext(usage(err), fmt.Sprintf("%s --help lists the flags", cmd.CommandPath()))
}

// exactArgs accepts as many arguments as names, which say what each is.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.HasAvailableSubCommands() && len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		if len(args) < len(names) {
			return withNext(usage(fmt.Errorf("%s: %s is missing", cmd.CommandPath(), names[len(args)])),
				cmd.CommandPath()+" --help shows examples")
		}
		if len(args) > len(names) {
			return withNext(usage(fmt.Errorf("%s: unexpected argument %q", cmd.CommandPath(), args[len(names)])),
				cmd.CommandPath()+" --help shows examples")
		}
		return nil
	}
}

// atLeastOne accepts one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return exactArgs(name)(cmd, args)
		}
		return nil
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	err := usage(fmt.Errorf("%s has no command %q", cmd.CommandPath(), name))
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return withNext(err, fmt.Sprintf("did you mean %s?", strings.Join(near, " or ")))
	}
	return withNext(err, cmd.CommandPath()+" --help lists the commands")
}

// group is a command that only holds others.
func group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(subcommands...)
	return cmd
}
