package corpus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// MaxChunkBytes is the largest chunk that the contract allows.
const MaxChunkBytes = 64 << 10

// Config is what a user may set. Changing the chunk sizes changes the ids of long documents.
type Config struct {
	// ChunkMin and ChunkMax bound a chunk of a long document, in bytes; a cut is sought between them. Defaults 2048 and
	// 4096. A document of up to ChunkMax is one chunk. ChunkMax is at least 16 and at most MaxChunkBytes.
	ChunkMin int
	ChunkMax int
	// MaxFileBytes bounds a file that is read whole: Markdown, text and HTML. Default 64 MiB.
	MaxFileBytes int64
	// MaxRecordBytes bounds one line of a JSONL file and one text of a Parquet file. Default 16 MiB.
	MaxRecordBytes int
}

// NewDefaultConfig returns the defaults named in Config.
func NewDefaultConfig() Config {
	return Config{ChunkMin: 2 << 10, ChunkMax: 4 << 10, MaxFileBytes: 64 << 20, MaxRecordBytes: 16 << 20}
}

// Validate joins every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.ChunkMax < 16 || c.ChunkMax > MaxChunkBytes {
		errs = append(errs, fmt.Errorf("chunk max is %d bytes, allowed are 16 to %d", c.ChunkMax, MaxChunkBytes))
	}
	if c.ChunkMin < 1 || c.ChunkMin > c.ChunkMax {
		errs = append(errs, fmt.Errorf("chunk min is %d bytes, allowed are 1 to chunk max, %d", c.ChunkMin, c.ChunkMax))
	}
	if c.MaxFileBytes < 1 {
		errs = append(errs, fmt.Errorf("max file is %d bytes, must be positive", c.MaxFileBytes))
	}
	if c.MaxRecordBytes < 1 {
		errs = append(errs, fmt.Errorf("max record is %d bytes, must be positive", c.MaxRecordBytes))
	}
	return errors.Join(errs...)
}

// Appender appends events to the log and returns once all are acknowledged. The bus's client is one.
type Appender interface {
	Append(ctx context.Context, events ...event.Event) error
}

// Settings is what code passes.
type Settings struct {
	// Appender is required.
	Appender Appender
	// Known is what the log already holds; the Ingester adds to it what it appends. Nil means an empty log.
	Known *Index
	// Progress, if not nil, is called from Add's goroutine, a few times a second at most and once at the end.
	Progress func(Progress)
	// Stamp, if not nil, makes what is observed of an event from the time its file was begun.
	Stamp func(started time.Time) *spadepb.Observed
	// Logger may be nil.
	Logger *slog.Logger
}
