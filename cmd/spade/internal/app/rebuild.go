package app

import (
	"context"
	"errors"
	"fmt"

	memoryrebuild "github.com/seed256f7767/spade/consumers/memory/rebuild"
	"github.com/seed256f7767/spade/consumers/warehouse"
	warehouserebuild "github.com/seed256f7767/spade/consumers/warehouse/rebuild"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Rebuild makes one projection anew.
type Rebuild struct {
	Run func(ctx context.Context) error
	// Progress may be called at any time.
	Progress func() RebuildProgress
}

// RebuildProgress is how far a rebuild is, or, when it is done, what it did. A field that does not apply is zero.
type RebuildProgress struct {
	Records int64 // of the log that were read
	Total   int64 // records there are to read, as far as that is known
	Events  int64
	Rows    int64
	Repeats int64 // events left out because an earlier record had their id
	Dead    int64 // events that cannot be projected
}

// The consumer groups that keep two rebuilds of one projection from being made at once. Their names are of those that the
// projections' own workers may use.
const (
	warehouseLock = warehouse.Group + "-rebuild"
	memoryLock    = "spade.memory-rebuild"
)

func (s *Services) warehouseRebuild() (*warehouserebuild.Warehouse, error) {
	set := warehouserebuild.Settings{
		Logger: s.Log, Log: s.Bus, Conn: s.warehouse, Install: s.installTables,
		Topics: topics.All(s.Config.Partitions), DeadLetter: s.poison("warehouse").Record,
	}
	if s.Config.Embeddings.URL == "" {
		set.Embedder = rowEmbedder{s.Embedder}
	}
	return warehouserebuild.New(warehouserebuild.Config{}, set)
}

// RebuildWarehouse makes a rebuild of the warehouse, which must have been connected to.
func (s *Services) RebuildWarehouse() (Rebuild, error) {
	w, err := s.warehouseRebuild()
	if err != nil {
		return Rebuild{}, err
	}
	return Rebuild{Run: s.alone(warehouseLock, w.Run), Progress: func() RebuildProgress {
		p := w.Progress()
		return RebuildProgress{Records: p.Records, Total: p.Total, Events: p.Events, Rows: p.Rows, Repeats: p.Repeats, Dead: p.Dead}
	}}, nil
}

// RebuildMemory makes a rebuild of the memory, which must have been connected to.
func (s *Services) RebuildMemory(ctx context.Context) (Rebuild, error) {
	if err := s.openMemory(ctx); err != nil {
		return Rebuild{}, err
	}
	m, err := s.memoryRebuild()
	if err != nil {
		return Rebuild{}, err
	}
	return Rebuild{Run: s.alone(memoryLock, m.Run), Progress: func() RebuildProgress {
		p := m.Progress()
		return RebuildProgress{Records: p.Records, Total: p.Total, Events: p.Events, Dead: p.Dead}
	}}, nil
}

func (s *Services) memoryRebuild() (*memoryrebuild.Memory, error) {
	return memoryrebuild.New(memoryrebuild.Config{}, memoryrebuild.Settings{Logger: s.Log, Log: s.Bus, Memory: s.memory.Memory})
}

// alone is a rebuild that waits for another one to end, but not for long.
func (s *Services) alone(lock string, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := exclusively(ctx, s.Bus, lock, run)
		if errors.Is(err, ErrBusy) {
			return fmt.Errorf("rebuild: %w", err)
		}
		return err
	}
}
