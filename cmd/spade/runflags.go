package main

import (
	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/config"
)

// addRunFlags defines the flags of a run's settings.
func addRunFlags(cmd *cobra.Command) {
	also := map[string]bool{"corpus": true, "plugin.command": true}
	config.BindFlags(cmd.Flags(), func(f config.Field) bool {
		return f.IsSemantic() || also[f.Key] || isWorkerSetting(f) || isWatchSetting(f)
	})
}

// addWorkerFlags defines, for a command and those below it, the flags of how environments run.
func addWorkerFlags(cmd *cobra.Command) {
	config.BindFlags(cmd.PersistentFlags(), isWorkerSetting)
}

func isWorkerSetting(f config.Field) bool {
	switch f.Key {
	case "workers", "sandbox.tier", "python.interpreter", "python.packages":
		return true
	}
	return false
}
