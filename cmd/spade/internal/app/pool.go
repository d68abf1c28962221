package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

// StartPool starts the workers that environments run in, as the configuration confines them; workers of 0 means one a
// core. sets are the package sets that the sources will name, an empty one being none; no others can be opened, so that no
// Python is asked for where none is needed. The caller shuts the pool down.
func StartPool(ctx context.Context, c config.Config, workers int, sets []string, log *slog.Logger) (*gym.Pool, error) {
	return startPool(ctx, c, workers, sets, gym.Settings{Logger: log})
}

// startPool is StartPool with settings of the pool.
func startPool(ctx context.Context, c config.Config, workers int, sets []string, set gym.Settings) (*gym.Pool, error) {
	log := set.Logger
	cfg := gym.NewDefaultConfig()
	if workers > 0 {
		cfg.MaxWorkers = workers
	}
	cfg.Limits.CallSteps = uint64(c.Run.MaxStepsBudget)
	cfg.Sandbox = c.Sandbox.Tier
	packages, err := packageFolders(ctx, c, sets)
	if err != nil {
		return nil, fmt.Errorf("package sets: %w", err)
	}
	cfg.Python = gym.PythonConfig{Interpreter: c.Python.Interpreter, Packages: packages}
	pool, err := gym.NewPool(cfg, set)
	if err != nil {
		return nil, err
	}
	if err := pool.Start(ctx); err != nil {
		return nil, errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx)))
	}
	if cfg.Sandbox != gym.SandboxFull && !log.Enabled(ctx, slog.LevelWarn) {
		// The pool has warned of it, which is said whatever the level of the log.
		log.ErrorContext(ctx, "environment code runs without the full sandbox", "sandbox_tier", cfg.Sandbox)
	}
	return pool, nil
}

// packageFolders are the folders of the package sets that are needed, and of all that the configuration names. Which are
// installed depends on the version of Python, which has to be asked; where all that is needed is named, or nothing, it is not.
func packageFolders(ctx context.Context, c config.Config, sets []string) (map[string]string, error) {
	named := c.Python.PackageFolders()
	var needed []string
	for _, set := range sets {
		if set != "" && named[set] == "" && !slices.Contains(needed, set) {
			needed = append(needed, set)
		}
	}
	if needed == nil {
		return named, nil
	}
	packages, err := pools.FindAll(ctx, PackageSets(c), needed)
	if err != nil {
		return nil, err
	}
	maps.Copy(packages, named)
	return packages, nil
}

// PackageSets is where the package sets of Python environments are, as the configuration says.
func PackageSets(c config.Config) pools.Config {
	return pools.Config{CacheDir: c.Cache, Interpreter: c.Python.Interpreter}
}

// smallest is an environment in both languages. It is opened to see that a runtime works here, and how it is confined.
const smallest = `META = {"title": "Smallest", "kind": "game", "max_steps": 1}

def reset(seed):
    return {}, "", {}

def step(state, action):
    return state, "", 0.0, True, False, {}

def hint(state):
    return ""

def verify(state):
    return 0.0
`

// tiers opens a worker for each source and returns the sandbox tiers that they run in, as a run records them. Where a
// runtime or a package is missing, this says so before anything is written.
func tiers(ctx context.Context, pool *gym.Pool, sources []gym.Source) (string, error) {
	seen := map[string]bool{}
	for _, src := range sources {
		w, err := pool.Open(ctx, src)
		if err != nil {
			return "", err
		}
		seen[w.Tier()] = true
		if err := w.Close(); err != nil {
			return "", err
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), " "), nil
}
