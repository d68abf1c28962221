package warehouse

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Group is the consumer group of the sink. Topics with another partition count than the run/env topics are in groups of
// their own, named after it.
const Group = "spade.warehouse"

// Config is what a user writes. Zero fields mean their default.
type Config struct {
	// FlushIdle is how long events wait for more when nothing else is to be read. Default 500 ms.
	FlushIdle time.Duration
	// FlushMax is how long events wait at most while there is always more. Default 1 s.
	FlushMax time.Duration
	// FlushBytes is what the events of a lane may take before it flushes them at once. Default 16 MiB: each flush is several
	// statements, whatever its size.
	FlushBytes int
	// Parallel is how many lanes flush at the same time; it bounds memory. Default 4.
	Parallel int
	// StatementTimeout bounds one statement. Default 2 minutes.
	StatementTimeout time.Duration
}

// NewDefaultConfig returns the defaults.
func NewDefaultConfig() Config {
	return Config{
		FlushIdle: 500 * time.Millisecond, FlushMax: time.Second, FlushBytes: 16 << 20, Parallel: 4,
		StatementTimeout: 2 * time.Minute,
	}
}

func (c Config) withDefaults() Config {
	d := NewDefaultConfig()
	def(&c.FlushIdle, d.FlushIdle)
	def(&c.FlushMax, d.FlushMax)
	def(&c.FlushBytes, d.FlushBytes)
	def(&c.Parallel, d.Parallel)
	def(&c.StatementTimeout, d.StatementTimeout)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.FlushIdle < 0 || c.FlushMax < 0 || c.StatementTimeout < 0 {
		errs = append(errs, errors.New("warehouse: times must not be negative"))
	}
	if c.FlushBytes < 0 || c.FlushBytes > tables.MaxBlockBytes {
		errs = append(errs, errors.New("warehouse: flush size must be between 0 and 64 MiB"))
	}
	if c.Parallel < 0 {
		errs = append(errs, errors.New("warehouse: parallel flushes must not be negative"))
	}
	return errors.Join(errs...)
}

// Log is what the sink needs of the log; *bus.Client is one.
type Log interface {
	Consume(ctx context.Context, group string, topics []string, start bus.Positions, h bus.Handler) error
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	// TopicIDs tells topics from others that had their names; a log that cannot tell returns none.
	TopicIDs(ctx context.Context, topics ...string) (map[string]uuid.UUID, error)
}

// Embedder turns texts into vectors, the same vectors for the same texts on every machine. kind is "document" or "code".
type Embedder interface {
	Model() string
	Dim() int
	Embed(ctx context.Context, texts []string, kind string) ([][]float32, error)
}

// Settings is what the code passes.
type Settings struct {
	// Logger receives changes of state. Nil drops them.
	Logger *slog.Logger
	// Log is read from. Required.
	Log Log
	// Store is written to. Required.
	Store Store
	// Topics is the topic catalogue that the log was made with. Required.
	Topics []topics.Topic
	// Embedder computes the rows of embeddings for documents and designs. Nil when the vectors come from an endpoint,
	// which leaves EmbeddingComputed events instead.
	Embedder Embedder
	// DeadLetter makes an event that cannot become rows durable elsewhere; it may be called again for the same one. The
	// sink does not pass the event before it returned nil. Required.
	DeadLetter func(ctx context.Context, r event.Record, reason error) error
	// Memory is the allocator of Arrow batches. Nil: one that uses released memory again.
	Memory memory.Allocator
}

func (s Settings) validate() error {
	var errs []error
	if s.Log == nil || s.Store == nil || s.DeadLetter == nil {
		errs = append(errs, errors.New("warehouse: log, store and dead letters are required"))
	}
	if len(s.Topics) == 0 {
		errs = append(errs, errors.New("warehouse: no topics given"))
	}
	return errors.Join(errs...)
}
