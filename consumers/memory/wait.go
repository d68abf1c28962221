package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/vector"
)

// waitBatch is how many ids one count names.
const waitBatch = 1024

// WaitDocuments waits until the projection holds every one of these documents: a search among them would otherwise
// depend on how far the projection has come.
func (m *Memory) WaitDocuments(ctx context.Context, wanted []uuid.UUID) error {
	for batch := range slices.Chunk(wanted, waitBatch) {
		points := make([]uuid.UUID, len(batch))
		for i, id := range batch {
			points[i] = documentPoint(id)
		}
		var have int64
		err := m.wait(ctx, func() (bool, error) {
			var err error
			have, err = m.set.Store.Count(ctx, m.documents.Name, vector.HasID(points...))
			return have >= int64(len(points)), err
		})
		if err != nil {
			return fmt.Errorf("wait for documents: %d of %d are there: %w", have, len(points), err)
		}
	}
	return nil
}
