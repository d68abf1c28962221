package app

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/producers/evaluator"
)

// recall is the memory as the designer and the evaluator ask it. Producers and consumers do not know each other, so the
// types of one are turned into those of the other here.
type recall struct {
	*memory.Memory

	mu    sync.Mutex // guards the following
	there bool       // whether every document that may be sampled is projected
}

var (
	_ designer.Memory    = (*recall)(nil)
	_ designer.Documents = (*documents)(nil)
	_ evaluator.Overlap  = (*recall)(nil)
)

// Count is the number of remembered environments before the bound.
func (r *recall) Count(ctx context.Context, scope []uuid.UUID, before designer.Before) (int64, error) {
	return r.Memory.Count(ctx, scope, memory.Before(before))
}

// Near finds remembered environments.
func (r *recall) Near(
	ctx context.Context, scope []uuid.UUID, since int32, before designer.Before, text string, code bool, n int,
) ([]designer.Neighbour, error) {
	near, err := r.Memory.Near(ctx, scope, since, memory.Before(before), text, code, n)
	if err != nil {
		return nil, err
	}
	out := make([]designer.Neighbour, len(near))
	for i, e := range near {
		out[i] = designer.Neighbour{
			EnvID: e.EnvID, Similarity: e.Similarity, Title: e.Title, Kind: e.Kind, Iteration: e.Iteration,
		}
	}
	return out, nil
}

// documents is the corpus as the designer asks for it.
type documents struct{ *recall }

// Documents returns documents by id.
func (d documents) Documents(ctx context.Context, ids []uuid.UUID) ([]designer.Document, error) {
	found, err := d.Memory.Documents(ctx, ids)
	return designDocuments(found), err
}

// Near finds documents among the allowed ones, once all of them are projected.
func (d documents) Near(ctx context.Context, text string, allowed []uuid.UUID, n int) ([]designer.Document, error) {
	if err := d.wait(ctx, allowed); err != nil {
		return nil, err
	}
	found, err := d.NearDocuments(ctx, text, allowed, n)
	return designDocuments(found), err
}

// wait waits once for the documents of the run; every slot asks with the same ones.
func (d documents) wait(ctx context.Context, allowed []uuid.UUID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.there {
		return nil
	}
	if err := d.WaitDocuments(ctx, allowed); err != nil {
		return err
	}
	d.there = true
	return nil
}

func designDocuments(found []memory.Document) []designer.Document {
	out := make([]designer.Document, len(found))
	for i, f := range found {
		out[i] = designer.Document{ID: f.ID, Title: f.Title, Text: f.Text, Score: f.Score}
	}
	return out
}
