package app

import (
	"context"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/producers/evaluator"
)

// recall is the memory as the designer and the evaluator ask it. Producers and consumers do not know each other, so the
// types of one are turned into those of the other here.
type recall struct{ *memory.Memory }

var (
	_ designer.Memory    = (*recall)(nil)
	_ designer.Documents = (*documents)(nil)
	_ evaluator.Overlap  = (*recall)(nil)
)

// Near finds remembered environments.
func (r *recall) Near(ctx context.Context, seen designer.Seen, since int32, text string, code bool, n int) ([]designer.Neighbour, error) {
	near, err := r.Memory.Near(ctx, memory.Seen{
		Scope: seen.Scope, Before: memory.Before(seen.Before), Remembered: seen.Remembered,
	}, since, text, code, n)
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

// documents is the corpus of a run as the designer asks for it.
type documents struct {
	*recall
	corpus *memory.Corpus
}

// Documents returns documents by id.
func (d documents) Documents(ctx context.Context, ids []uuid.UUID) ([]designer.Document, error) {
	found, err := d.Memory.Documents(ctx, ids)
	return designDocuments(found), err
}

// Near finds documents of the corpus, once all of them are projected.
func (d documents) Near(ctx context.Context, text string, n int) ([]designer.Document, error) {
	found, err := d.corpus.Near(ctx, text, n)
	return designDocuments(found), err
}

func designDocuments(found []memory.Document) []designer.Document {
	out := make([]designer.Document, len(found))
	for i, f := range found {
		out[i] = designer.Document{ID: f.ID, Title: f.Title, Text: f.Text, Score: f.Score}
	}
	return out
}
