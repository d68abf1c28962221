package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
	points := documentPoints(wanted)
	var hits []vector.Hit
	err := m.whole(ctx, m.readDocuments, int64(len(points)), func(name string) (_ int64, err error) {
		hits, err = m.set.Store.Get(ctx, name, points...)
		return int64(len(hits)), err
	}, func(string) error { return nil })
	if err != nil {
		return nil, err
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

func documentPoints(documents []uuid.UUID) []uuid.UUID {
	points := make([]uuid.UUID, len(documents))
	for i, id := range documents {
		points[i] = documentPoint(id)
	}
	return points
}

// Corpus is the documents that searches may find: those that a run pinned. It remembers which collection was seen to hold them all, and
// may be used concurrently.
type Corpus struct {
	m      *Memory
	points []uuid.UUID

	mu      sync.Mutex // one asks and the others wait
	name    string
	missing []uuid.UUID // of the collection of that name
}

// Corpus makes one of documents.
func (m *Memory) Corpus(documents []uuid.UUID) *Corpus {
	return &Corpus{m: m, points: documentPoints(documents)}
}

// present counts the documents that a collection holds: once it has been seen to hold one, it is not asked for that one again.
func (c *Corpus) present(ctx context.Context, name string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != name {
		c.name, c.missing = name, slices.Clone(c.points)
	}
	if len(c.missing) > 0 {
		there, err := c.m.set.Store.Exists(ctx, name, c.missing...)
		if err != nil {
			return 0, err
		}
		c.missing = slices.DeleteFunc(c.missing, func(id uuid.UUID) bool { return there[id] })
	}
	return int64(len(c.points) - len(c.missing)), nil
}

// Near returns at most n documents, most similar to text first, ties by point id, once the projection holds them all: what is nearest
// must not depend on how far it has come. Withdrawn ones are left out.
func (c *Corpus) Near(ctx context.Context, text string, n int) ([]Document, error) {
	q, err := c.m.embed(ctx, text, embedding.Document)
	if err != nil {
		return nil, err
	}
	var hits []vector.Hit
	err = c.m.whole(ctx, c.m.readDocuments, int64(len(c.points)), func(name string) (int64, error) {
		return c.present(ctx, name)
	}, func(name string) (err error) {
		hits, err = c.m.nearPoints(ctx, name, q, c.points, n)
		return err
	})
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

// maxAllowed is how many ids a search names; a longer list is judged here.
const maxAllowed = 256

// nearPoints names the allowed points in the search when they are few. When
// they are many, the nearest of all are asked for, twice as many each time, until
// n of them are allowed: every search is exact, so the result is the same.
func (m *Memory) nearPoints(ctx context.Context, collection string, q []float32, allowed []uuid.UUID, n int) ([]vector.Hit, error) {
	usable := vector.Equal(keyWithdrawn, false)
	search := func(where vector.Condition, k int) ([]vector.Hit, error) {
		return m.set.Store.Search(ctx, collection, q, where, k)
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
