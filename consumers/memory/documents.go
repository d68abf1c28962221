package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
)

// Document is one chunk of the corpus. The text of a withdrawn one is empty.
type Document struct {
	ID        uuid.UUID
	Title     string
	Text      string
	Withdrawn bool
	// Score is the cosine to what was asked for; 1 for one asked for by id.
	Score float64
}

// Documents returns the documents of these ids, in their order, waiting until
// the projection holds them all.
func (m *Memory) Documents(ctx context.Context, wanted []uuid.UUID) ([]Document, error) {
	points := make([]uuid.UUID, len(wanted))
	for i, id := range wanted {
		points[i] = documentPoint(id)
	}
	var hits []vector.Hit
	err := m.wait(ctx, func() (bool, error) {
		var err error
		hits, err = m.set.Store.Get(ctx, m.documents.Name, points...)
		return len(hits) == len(points), err
	})
	if err != nil {
		return nil, fmt.Errorf("documents: %d of %d are there: %w", len(hits), len(wanted), err)
	}
	out := make([]Document, len(hits))
	for i, h := range hits {
		h.Score = 1
		if out[i], err = document(h); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WaitDocuments waits until the projection holds all of these documents: what is
// nearest among them must not depend on how far it has come.
func (m *Memory) WaitDocuments(ctx context.Context, wanted []uuid.UUID) error {
	missing := make([]uuid.UUID, len(wanted))
	for i, id := range wanted {
		missing[i] = documentPoint(id)
	}
	err := m.wait(ctx, func() (bool, error) {
		there, err := m.set.Store.Exists(ctx, m.documents.Name, missing...)
		missing = slices.DeleteFunc(missing, func(id uuid.UUID) bool { return there[id] })
		return len(missing) == 0, err
	})
	if err != nil {
		return fmt.Errorf("documents: %d of %d are missing: %w", len(missing), len(wanted), err)
	}
	return nil
}

// maxAllowed is how many ids a search names; a longer list is judged here.
const maxAllowed = 256

// NearDocuments returns at most n documents of allowed, most similar to text
// first, ties by point id. Withdrawn ones are left out.
func (m *Memory) NearDocuments(ctx context.Context, text string, allowed []uuid.UUID, n int) ([]Document, error) {
	q, err := m.embed(ctx, text, embedding.Document)
	if err != nil {
		return nil, err
	}
	points := make([]uuid.UUID, len(allowed))
	for i, id := range allowed {
		points[i] = documentPoint(id)
	}
	hits, err := m.nearPoints(ctx, q, points, n)
	if err != nil {
		return nil, err
	}
	out := make([]Document, len(hits))
	for i, h := range hits {
		if out[i], err = document(h); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nearPoints names the allowed points in the search when they are few. When
// they are many, the nearest of all are asked for, twice as many each time, until
// n of them are allowed: every search is exact, so the result is the same.
func (m *Memory) nearPoints(ctx context.Context, q []float32, allowed []uuid.UUID, n int) ([]vector.Hit, error) {
	usable := vector.Equal(keyWithdrawn, false)
	search := func(where vector.Condition, k int) ([]vector.Hit, error) {
		return m.set.Store.Search(ctx, m.documents.Name, q, where, k)
	}
	if len(allowed) <= maxAllowed {
		return search(vector.All(usable, vector.HasID(allowed...)), n)
	}
	set := make(map[uuid.UUID]bool, len(allowed))
	for _, id := range allowed {
		set[id] = true
	}
	for k := 4 * n; k <= 4096; k *= 2 {
		hits, err := search(usable, k)
		if err != nil {
			return nil, err
		}
		all := len(hits) < k
		hits = slices.DeleteFunc(hits, func(h vector.Hit) bool { return !set[h.ID] })
		if len(hits) >= n || all {
			return hits[:min(n, len(hits))], nil
		}
	}
	return search(vector.All(usable, vector.HasID(allowed...)), n)
}

func document(h vector.Hit) (Document, error) {
	id, err := uuid.Parse(text(h, keyDocument))
	if err != nil {
		return Document{}, fmt.Errorf("point %s: document_id: %w", h.ID, err)
	}
	withdrawn, _ := h.Payload[keyWithdrawn].(bool)
	return Document{ID: id, Title: text(h, "title"), Text: text(h, "text"), Withdrawn: withdrawn, Score: h.Score}, nil
}
