package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"runtime"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/internal/bus"
)

// Config is what a user writes. Zero fields mean their default.
type Config struct {
	// Parallel is how many partitions are read side by side. Default: the number of cores.
	Parallel int
}

const maxParallel = 64

func (c Config) withDefaults() Config {
	if c.Parallel == 0 {
		c.Parallel = min(runtime.NumCPU(), maxParallel)
	}
	return c
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	if c.Parallel < 0 || c.Parallel > maxParallel {
		return errors.New("rebuild: between 1 and 64 partitions can be read side by side")
	}
	return nil
}

// Log is what a rebuild needs of the log; *bus.Client is one.
type Log interface {
	FirstOffsets(ctx context.Context, topic string) (map[int32]int64, error)
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	Tail(topic string, partition int32, from int64) *bus.Tail
}

var _ Log = (*bus.Client)(nil)

// Settings is what the code passes.
type Settings struct {
	// Logger receives changes of state. Nil drops them.
	Logger *slog.Logger
	// Log is read from. Required.
	Log Log
	// Memory is the live one, opened. Required.
	Memory *memory.Memory
}

func (s Settings) validate() error {
	if s.Log == nil || s.Memory == nil {
		return errors.New("rebuild: log and memory are required")
	}
	return nil
}
