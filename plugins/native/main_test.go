package main

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/plugins/host"
	"github.com/seed256f7767/spade/plugins/plugintest"
)

const modeEnv = "SPADE_NATIVE_TEST"

// TestMain makes this binary the plugin when the variable is set.
func TestMain(m *testing.M) {
	if os.Getenv(modeEnv) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	plugintest.Run(t, func(ctx context.Context) (*host.Plugin, error) {
		return host.Launch(ctx, host.Config{
			Command: []string{os.Args[0]}, Env: []string{modeEnv + "=1"}, StartTimeout: 20 * time.Second,
		}, host.Settings{})
	})
}
