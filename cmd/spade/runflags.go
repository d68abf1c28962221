package main

import (
	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/config"
)

// addRunFlags defines the flags of a run's settings.
func addRunFlags(cmd *cobra.Command) {
	also := map[string]bool{"corpus": true, "workers": true, "sandbox.tier": true, "plugin.command": true}
	config.BindFlags(cmd.Flags(), func(f config.Field) bool { return f.IsSemantic() || also[f.Key] })
}
