package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker; the Makefile takes it from the repository.
var version = "development"

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
					"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(c.out, "spade %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
