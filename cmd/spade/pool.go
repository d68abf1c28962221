package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
)

// startPool starts the workers that environments run in. The caller shuts the pool down.
func startPool(ctx context.Context, l config.Loaded, log *slog.Logger) (*gym.Pool, error) {
	cfg := gym.NewDefaultConfig()
	cfg.MaxWorkers = l.Workers
	cfg.Limits.CallSteps = uint64(l.Run.MaxStepsBudget)
	cfg.Sandbox = sandboxOf(l.Sandbox)
	pool, err := gym.NewPool(cfg, gym.Settings{Logger: log})
	if err != nil {
		return nil, err
	}
	if err := pool.Start(ctx); err != nil {
		return nil, errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx)))
	}
	return pool, nil
}

// sandboxOf is the gym's name of a tier.
func sandboxOf(s config.Sandbox) string {
	if s.Tier == "limits" {
		return gym.SandboxLimits
	}
	return gym.SandboxFull
}

// readSource reads an environment's source.
func readSource(path, runtime string) (gym.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	if info.Size() > gym.MaxCode {
		return gym.Source{}, fmt.Errorf("read the environment: %s has %d bytes, at most %d are allowed", path, info.Size(), gym.MaxCode)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	return gym.Source{Runtime: runtime, Code: string(code)}, nil
}
