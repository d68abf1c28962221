package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Config is what a user writes. Zero fields mean their default.
type Config struct {
	// Parallel is how many partitions are read side by side. Default: the number of cores.
	Parallel int
	// BlockBytes is the size of the rows that a reader collects before it inserts them. Default 16 MiB; a reader holds about
	// three times as much.
	BlockBytes int
}

const (
	defaultBlockBytes = 16 << 20
	maxParallel       = 64
)

func (c Config) withDefaults() Config {
	if c.Parallel == 0 {
		c.Parallel = min(runtime.NumCPU(), maxParallel)
	}
	if c.BlockBytes == 0 {
		c.BlockBytes = defaultBlockBytes
	}
	return c
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Parallel < 0 || c.Parallel > maxParallel {
		errs = append(errs, errors.New("rebuild: between 1 and 64 partitions can be read side by side"))
	}
	if c.BlockBytes < 0 || c.BlockBytes > tables.MaxBlockBytes {
		errs = append(errs, errors.New("rebuild: the size of a block must be between 0 and 64 MiB"))
	}
	return errors.Join(errs...)
}

// Log is what a rebuild needs of the log; *bus.Client is one.
type Log interface {
	FirstOffsets(ctx context.Context, topic string) (map[int32]int64, error)
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	TopicIDs(ctx context.Context, names ...string) (map[string]uuid.UUID, error)
	Tail(topic string, partition int32, from int64) *bus.Tail
}

var _ Log = (*bus.Client)(nil)

// Settings is what the code passes.
type Settings struct {
	// Logger receives changes of state. Nil drops them.
	Logger *slog.Logger
	// Log is read from. Required.
	Log Log
	// Conn is the warehouse. Required; it stays the caller's.
	Conn olap.Conn
	// Install makes what the warehouse lacks of its tables. Required.
	Install func(ctx context.Context) error
	// Topics is the topic catalogue that the log was made with. Required.
	Topics []topics.Topic
	// Embedder is the one that the sink has, or nil.
	Embedder warehouse.Embedder
	// DeadLetter makes an event that cannot become rows, and that no sink has met yet, durable elsewhere. Required.
	DeadLetter func(ctx context.Context, r event.Record, reason error) error
	// Memory is the allocator of Arrow batches. Nil: one that uses released memory again.
	Memory memory.Allocator
}

func (s Settings) validate() error {
	if s.Log == nil || s.Conn == nil || s.Install == nil || s.DeadLetter == nil || len(s.Topics) == 0 {
		return errors.New("rebuild: log, warehouse, installation, dead letters and topics are required")
	}
	return nil
}
