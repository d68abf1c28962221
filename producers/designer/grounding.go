package designer

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Document is one chunk of the corpus.
type Document struct {
	ID    uuid.UUID
	Title string
	Text  string
	Score float64 // cosine to what was asked for; 1 for one that was asked for by id
}

// Documents gives the designer its grounding. It may be called concurrently.
type Documents interface {
	// Documents returns the documents of those ids, in their order, waiting until the projection holds them.
	Documents(ctx context.Context, ids []uuid.UUID) ([]Document, error)
	// Near returns at most n of the run's documents, most similar to text first, ties by id.
	Near(ctx context.Context, text string, n int) ([]Document, error)
}

// Neighbour is an environment of the memory near to something.
type Neighbour struct {
	EnvID      uuid.UUID
	Similarity float64 // cosine, rounded to 1e-6
	Title      string
	Kind       string
	Iteration  int
}

// Before bounds what a search sees: designs of earlier iterations, and of this one those of lower slots.
type Before struct {
	Iteration, Slot int32
}

// Seen is what a search sees: environments of a run and its ancestors before the bound, of which the log has as many as Remembered.
type Seen struct {
	Scope      []uuid.UUID
	Before     Before
	Remembered int64
}

// Memory is the projection of accepted environments. It may be called concurrently.
type Memory interface {
	// Near returns at most n environments of those seen, and not before iteration since, most similar to text first, ties by
	// id, once it holds them all: what a designer recalls must not depend on how far a consumer has come. code says that text
	// is a source and not prose.
	Near(ctx context.Context, seen Seen, since int32, text string, code bool, n int) ([]Neighbour, error)
}

// grounds is what a prompt is built from.
type grounds struct {
	documents    []Document
	attributions []*spadepb.Attribution
	recalled     []Neighbour
	neighbours   []*spadepb.Neighbour
}

// ground samples the documents of an attempt and recalls the environments near to them. A repair attempt sees the
// documents of the first one.
func (d *Designer) ground(ctx context.Context, req *spadepb.DesignRequested, key seed.Key) (grounds, error) {
	var g grounds
	key.Attempt = 0
	if err := d.sampleDocuments(ctx, key, &g); err != nil {
		return g, fmt.Errorf("sample documents: %w", err)
	}
	if err := d.recall(ctx, Seen{d.Run.Scope, Before{Iteration: req.GetIteration()}, req.GetMemoryVersion()}, &g); err != nil {
		return g, fmt.Errorf("recall environments: %w", err)
	}
	return g, nil
}

// sampleDocuments draws one document of those that the run pinned, uniformly, and adds its nearest ones.
func (d *Designer) sampleDocuments(ctx context.Context, key seed.Key, g *grounds) error {
	n := int(d.Run.Config.GetDocumentsPerDesign())
	if n == 0 || len(d.Run.Documents) == 0 || d.Run.Ablated("grounding") {
		return nil
	}
	key.Purpose = "documents"
	anchor := d.Run.Documents[seed.Stream(d.Run.Seed, key).IntN(len(d.Run.Documents))]
	found, err := d.Documents.Documents(ctx, []uuid.UUID{anchor})
	if err != nil {
		return err
	}
	g.documents = found
	if n > 1 {
		near, err := d.Documents.Near(ctx, found[0].Text, n)
		if err != nil {
			return err
		}
		for _, doc := range near {
			if doc.ID != anchor && len(g.documents) < n {
				g.documents = append(g.documents, doc)
			}
		}
	}
	for i, doc := range g.documents {
		g.attributions = append(g.attributions, &spadepb.Attribution{
			DocumentId: doc.ID[:], Rank: int32(i), Score: doc.Score,
		})
	}
	return nil
}

// recall finds what was built before near to the sampled documents.
func (d *Designer) recall(ctx context.Context, seen Seen, g *grounds) error {
	n := int(d.Run.Config.GetRecalledPerDesign())
	if n == 0 || d.Run.Ablated("memory") {
		return nil
	}
	var text strings.Builder
	for _, doc := range g.documents {
		text.WriteString(doc.Text)
		text.WriteByte('\n')
	}
	near, err := d.Memory.Near(ctx, seen, 0, text.String(), false, n)
	if err != nil {
		return err
	}
	g.recalled, g.neighbours = near, neighbourMessages(near)
	return nil
}

func neighbourMessages(near []Neighbour) []*spadepb.Neighbour {
	var out []*spadepb.Neighbour
	for i, n := range near {
		out = append(out, &spadepb.Neighbour{EnvId: n.EnvID[:], Rank: int32(i), Similarity: n.Similarity})
	}
	return out
}
