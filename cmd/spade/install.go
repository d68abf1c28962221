package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
)

func newInstall(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Install the embedded ClickHouse engine, once a machine",
		Long: `Fetches libchdb, the engine of the embedded warehouse, with npm into a folder that all data folders
share. It does nothing where the engine is installed already.`,
		Example: `  spade install
  SPADE_CACHE=/srv/cache spade install`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			path, err := chdblib.Install(cmd.Context(), engineConfig(l), chdblib.Settings{Progress: c.err})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, path)
			return err
		},
	}
}
