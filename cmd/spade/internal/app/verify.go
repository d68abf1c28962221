package app

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/digest"
)

// Verification is how a run's projection compares with its log.
type Verification struct {
	Log         *digest.Log
	Differences []audit.Difference // between the log and the warehouse, none when they are equal
}

// Verify brings the warehouse up to date and compares what it holds of a run with the run's log, row by row. StartSinks
// must have been called.
func (s *Services) Verify(ctx context.Context, run runs.Run) (Verification, error) {
	if err := s.settle(ctx); err != nil {
		return Verification{}, err
	}
	d, err := Digest(ctx, s.Bus, run)
	if err != nil {
		return Verification{}, err
	}
	var embedder audit.Embedder
	if s.Config.Embeddings.URL == "" {
		embedder = rowEmbedder{s.Embedder}
	}
	log, err := audit.Log(ctx, s.Bus, allTopics(s.Config.Partitions), run.ID, embedder)
	if err != nil {
		return Verification{}, fmt.Errorf("fold the log: %w", err)
	}
	held, err := audit.Warehouse(ctx, s.warehouse, run.ID)
	if err != nil {
		return Verification{}, fmt.Errorf("read the warehouse: %w", err)
	}
	return Verification{Log: d, Differences: audit.Compare(log, held)}, nil
}
