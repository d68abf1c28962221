package memory

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
)

// Before bounds what a search sees: environments of earlier iterations, and of
// this one those of lower slots.
type Before struct {
	Iteration, Slot int32
}

// Neighbour is an environment of the memory near to something.
type Neighbour struct {
	EnvID      uuid.UUID
	RunID      uuid.UUID
	Similarity float64 // cosine, rounded to 1e-6
	Title      string
	Kind       string
	Iteration  int
}

// Seen is what a search sees: environments of a run and its ancestors before the bound, of which the log has as many as Remembered. A
// search waits until the memory holds them all, so that what it finds does not depend on how far the projection has come.
type Seen struct {
	Scope      []uuid.UUID
	Before     Before
	Remembered int64
}

// Near returns at most n environments of those seen, and not before iteration since, most similar to text first, ties by point id.
// code says that text is a source and not prose.
func (m *Memory) Near(ctx context.Context, seen Seen, since int32, text string, code bool, n int) ([]Neighbour, error) {
	kind := embedding.CodeQuery
	if code {
		kind = embedding.Code
	}
	q, err := m.embed(ctx, text, kind)
	if err != nil {
		return nil, err
	}
	var hits []vector.Hit
	err = m.whole(ctx, m.readEnvironments, seen.Remembered, func(name string) (int64, error) {
		return m.set.Store.Count(ctx, name, within(seen.Scope, 0, seen.Before))
	}, func(name string) (err error) {
		hits, err = m.set.Store.Search(ctx, name, q, within(seen.Scope, since, seen.Before), n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remembered environments: %w", err)
	}
	out := make([]Neighbour, len(hits))
	for i, h := range hits {
		if out[i], err = neighbour(h); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Nearest is the environment of the scope, of an earlier iteration, most
// similar to code, once as many as remembered are there. ok is false when there
// is none.
func (m *Memory) Nearest(ctx context.Context, scope []uuid.UUID, iteration int32, remembered int64, code string) (
	env uuid.UUID, similarity float64, ok bool, err error,
) {
	near, err := m.Near(ctx, Seen{scope, Before{Iteration: iteration}, remembered}, 0, code, true, 1)
	if err != nil || len(near) == 0 {
		return uuid.Nil, 0, false, err
	}
	return near[0].EnvID, near[0].Similarity, true, nil
}

func within(scope []uuid.UUID, since int32, before Before) vector.Condition {
	runs := make([]string, len(scope))
	for i, r := range scope {
		runs[i] = r.String()
	}
	parts := []vector.Condition{vector.In(keyRun, runs...), vector.Any(
		vector.Below(keyIteration, int64(before.Iteration)),
		vector.All(vector.Equal(keyIteration, before.Iteration), vector.Below(keySlot, int64(before.Slot))),
	)}
	if since > 0 {
		parts = append(parts, vector.AtLeast(keyIteration, int64(since)))
	}
	return vector.All(parts...)
}

func neighbour(h vector.Hit) (Neighbour, error) {
	env, err := uuid.Parse(text(h, keyEnv))
	if err != nil {
		return Neighbour{}, fmt.Errorf("point %s: env_id: %w", h.ID, err)
	}
	run, err := uuid.Parse(text(h, keyRun))
	if err != nil {
		return Neighbour{}, fmt.Errorf("point %s: run_id: %w", h.ID, err)
	}
	iteration, _ := h.Payload[keyIteration].(int64)
	return Neighbour{
		EnvID: env, RunID: run, Similarity: h.Score, Title: text(h, "title"), Kind: text(h, keyKind), Iteration: int(iteration),
	}, nil
}

func text(h vector.Hit, key string) string {
	s, _ := h.Payload[key].(string)
	return s
}

func (m *Memory) embed(ctx context.Context, text string, kind embedding.Kind) ([]float32, error) {
	vectors, err := m.set.Embedder.Embed(ctx, []string{text}, kind)
	if err != nil {
		return nil, fmt.Errorf("embed a query: %w", err)
	}
	return vectors[0], nil
}
