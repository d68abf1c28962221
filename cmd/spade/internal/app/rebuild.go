package app

import (
	"context"

	"github.com/seed256f7767/spade/consumers/rebuild"
	"github.com/seed256f7767/spade/schemas/topics"
)

// RebuildWarehouse makes a rebuild of the warehouse, which must have been connected to.
func (s *Services) RebuildWarehouse() (*rebuild.Warehouse, error) {
	set := rebuild.Settings{
		Logger: s.Log, Log: s.Bus, Conn: s.warehouse, Install: s.installTables,
		Topics: topics.All(s.Config.Partitions), DeadLetter: s.poison("warehouse").Record,
	}
	if s.Config.Embeddings.URL == "" {
		set.Embedder = rowEmbedder{s.Embedder}
	}
	return rebuild.NewWarehouse(rebuild.Config{}, set)
}

// RebuildMemory makes a rebuild of the memory, which must have been connected to.
func (s *Services) RebuildMemory(ctx context.Context) (*rebuild.Memory, error) {
	if err := s.openMemory(ctx); err != nil {
		return nil, err
	}
	return rebuild.NewMemory(rebuild.Config{}, rebuild.MemorySettings{Logger: s.Log, Log: s.Bus, Memory: s.memory.Memory})
}
