package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

func newConfig(c *cli) *cobra.Command {
	return group("config", "Show the settings", newConfigPrint(c))
}

func newConfigPrint(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "print",
		Short: "Print every setting and where its value came from",
		Long: `Prints the settings in force as YAML that --config would read, each with where it came from.
Flags win over SPADE_* variables, variables over the file, the file over the defaults.
The variable of a setting is SPADE_ and its key in capitals: run.env_seeds is SPADE_RUN_ENV_SEEDS.`,
		Example: `  spade config print
  SPADE_RUN_SEED=7 spade config print --json
  spade config print > spade.yaml`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			if !asJSON {
				return l.WriteYAML(c.out)
			}
			enc := json.NewEncoder(screen.JSONWriter(c.out))
			enc.SetIndent("", "  ")
			return enc.Encode(l.Settings())
		},
	}
	addRunFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
