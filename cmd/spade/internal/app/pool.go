package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
)

// StartPool starts the workers that environments run in, as the configuration confines them; workers of 0 means one a
// core. The caller shuts the pool down.
func StartPool(ctx context.Context, c config.Config, workers int, log *slog.Logger) (*gym.Pool, error) {
	cfg := gym.NewDefaultConfig()
	if workers > 0 {
		cfg.MaxWorkers = workers
	}
	cfg.Limits.CallSteps = uint64(c.Run.MaxStepsBudget)
	cfg.Sandbox = gym.SandboxFull
	if c.Sandbox.Tier == "limits" {
		cfg.Sandbox = gym.SandboxLimits
	}
	pool, err := gym.NewPool(cfg, gym.Settings{Logger: log})
	if err != nil {
		return nil, err
	}
	if err := pool.Start(ctx); err != nil {
		return nil, errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx)))
	}
	return pool, nil
}
