package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletion(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "Print a completion script for bash, zsh, fish or powershell",
		Example:   "  source <(spade completion bash)\n  spade completion zsh > \"${fpath[1]}/_spade\"",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactArgs("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			default:
				return usage(fmt.Errorf("no completion for %q: bash, zsh, fish and powershell have one", args[0]))
			}
		},
	}
}
