package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/observe"
)

func newVersion(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the program's version",
		Example: `  spade version
  spade version --json`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(c.out).Encode(map[string]string{
					"version": observe.Build(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(c.out, "spade %s (%s %s/%s)\n", observe.Build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
