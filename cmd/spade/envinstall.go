package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

func newEnvInstall(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "install SET...",
		Short: "Install the packages of fixed pools, once a machine",
		Long: `Fetches package sets with pip into a folder that all data folders share. Each is a pinned list of built
packages for the version of Python that environments run on. It does nothing where a set is installed already.
The sets: ` + strings.Join(pools.Names(), ", ") + `; all means every one that this Python can hold.`,
		Example: `  spade env install gymnasium
  spade env install reasoning-gym bfcl`,
		Args:      atLeastOne("SET"),
		ValidArgs: append(pools.Names(), "all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			if len(args) == 1 && args[0] == "all" {
				if args, err = c.everySet(cmd.Context(), app.PackageSets(l.Config)); err != nil {
					return err
				}
			}
			for _, name := range args {
				if err := pools.Known(name); err != nil {
					return usage(err)
				}
			}
			for _, name := range args {
				site, err := pools.Install(cmd.Context(), app.PackageSets(l.Config), name, pools.Settings{Progress: c.err})
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(c.out, "%s\t%s\n", name, site); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// everySet is all sets that the interpreter can hold. It tells of the others.
func (c *cli) everySet(ctx context.Context, cfg pools.Config) ([]string, error) {
	var names []string
	for _, name := range pools.Names() {
		switch err := pools.Fits(ctx, cfg, name); {
		case err == nil:
			names = append(names, name)
		case errors.Is(err, pools.ErrPython):
			if _, err := fmt.Fprintf(c.err, "left out: %v\n", err); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return names, nil
}
