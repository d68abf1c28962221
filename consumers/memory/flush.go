package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// flush writes what is ready, then what was withdrawn. It may be repeated: the
// queues are emptied only when all is written.
func (p *processor) flush(ctx context.Context) error {
	for _, kind := range []embedding.Kind{embedding.Code, embedding.Document} {
		if err := p.write(ctx, kind); err != nil {
			return err
		}
	}
	if err := p.withdraw(ctx); err != nil {
		return err
	}
	p.ready, p.withdrawn = nil, nil
	return p.forgetKnown(ctx)
}

// forgetKnown drops vectors that were read for things that have their point:
// records read again after a restart, or a second answer for the same thing.
func (p *processor) forgetKnown(ctx context.Context) error {
	for _, kind := range []embedding.Kind{embedding.Code, embedding.Document} {
		byPoint := map[uuid.UUID]uuid.UUID{}
		for entity, e := range p.early {
			if e.kind == kind && !e.checked {
				byPoint[entry{entity: entity, kind: kind}.point()] = entity
				e.checked = true
				p.early[entity] = e
			}
		}
		there, err := p.m.set.Store.Exists(ctx, p.collection(kind), slices.Collect(maps.Keys(byPoint))...)
		if err != nil {
			return err
		}
		for point := range there {
			delete(p.early, byPoint[point])
		}
	}
	return nil
}

func (p *processor) collection(kind embedding.Kind) string {
	if kind == embedding.Code {
		return p.m.environments.Name
	}
	return p.m.documents.Name
}

// write stores the ready entries of a kind, less those that are there. Another
// process may have taken the partition over since they were looked for, and may
// have withdrawn a document meanwhile: so a point that is there stays, whatever
// was seen before.
func (p *processor) write(ctx context.Context, kind embedding.Kind) error {
	entries, err := p.unwritten(ctx, kind)
	if err != nil || len(entries) == 0 {
		return err
	}
	if err := p.embedMissing(ctx, entries, kind); err != nil {
		return err
	}
	points := make([]vector.Point, len(entries))
	for i, e := range entries {
		points[i] = vector.Point{ID: e.point(), Vector: e.vector, Payload: e.payload}
	}
	return p.m.set.Store.Insert(ctx, p.collection(kind), points)
}

// unwritten are the first entry of each entity that has no point yet.
func (p *processor) unwritten(ctx context.Context, kind embedding.Kind) ([]entry, error) {
	var points []uuid.UUID
	for _, e := range p.ready {
		if e.kind == kind {
			points = append(points, e.point())
		}
	}
	there, err := p.m.set.Store.Exists(ctx, p.collection(kind), points...)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, e := range p.ready {
		if e.kind != kind || there[e.point()] {
			continue
		}
		there[e.point()] = true
		out = append(out, e)
	}
	return out, nil
}

func (p *processor) embedMissing(ctx context.Context, entries []entry, kind embedding.Kind) error {
	var missing []*entry
	for i := range entries {
		if entries[i].vector == nil {
			missing = append(missing, &entries[i])
		}
	}
	vectors, err := p.embed(ctx, missing, kind)
	if err != nil {
		return err
	}
	for i, e := range missing {
		e.vector = vectors[i]
	}
	return nil
}

// embed returns the vectors of entries. One whose text the embedder refuses goes
// to the dead letters and gets a vector of zeros, which is near to nothing: it
// has to have its point, because designers wait for all of them.
func (p *processor) embed(ctx context.Context, entries []*entry, kind embedding.Kind) ([][]float32, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.text
	}
	vectors, err := p.m.set.Embedder.Embed(ctx, texts, kind)
	switch {
	case err == nil:
		return vectors, nil
	case !errors.Is(err, embedding.ErrTextRefused):
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	case len(entries) == 1:
		if err := p.m.set.Poison.Event(ctx, entries[0].event, err); err != nil {
			return nil, err
		}
		return [][]float32{make([]float32, p.m.set.Embedder.Dim())}, nil
	}
	for i := range entries {
		one, err := p.embed(ctx, entries[i:i+1], kind)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, one...)
	}
	return vectors, nil
}

// withdraw replaces documents by their tombstones: no text, no title, no vector.
func (p *processor) withdraw(ctx context.Context) error {
	if len(p.withdrawn) == 0 {
		return nil
	}
	var points []uuid.UUID
	for _, w := range p.withdrawn {
		points = append(points, documentPoint(w.document))
		// One that waits for its vector needs none any more.
		delete(p.waiting, w.document)
	}
	found, err := p.m.set.Store.Get(ctx, p.m.documents.Name, points...)
	if err != nil {
		return err
	}
	old := map[uuid.UUID]map[string]any{}
	for _, h := range found {
		old[h.ID] = h.Payload
	}
	var out []vector.Point
	for i, w := range p.withdrawn {
		out = append(out, vector.Point{
			ID: points[i], Vector: make([]float32, p.m.set.Embedder.Dim()), Payload: tombstone(w.document, old[points[i]]),
		})
	}
	return p.m.set.Store.Upsert(ctx, p.m.documents.Name, out)
}

// askEndpoint embeds what waits without having been asked for, and appends the
// vectors; the points are written when these events are read.
func (p *processor) askEndpoint(ctx context.Context) error {
	for _, kind := range []embedding.Kind{embedding.Code, embedding.Document} {
		asked := p.unasked(kind)
		if len(asked) == 0 {
			continue
		}
		started := time.Now()
		vectors, err := p.embed(ctx, asked, kind)
		if err != nil {
			return err
		}
		events := make([]event.Event, len(asked))
		for i, w := range asked {
			if events[i], err = p.computed(w, vectors[i], started); err != nil {
				return err
			}
		}
		if err := p.m.set.Log.Append(ctx, events...); err != nil {
			return fmt.Errorf("append vectors: %w", err)
		}
		for _, w := range asked {
			w.asked = true
		}
	}
	return nil
}

// unasked are the entries that wait for a vector nobody was asked for, in the
// order of the log.
func (p *processor) unasked(kind embedding.Kind) (entries []*entry) {
	for _, w := range p.waiting {
		if w.kind == kind && !w.asked {
			entries = append(entries, w)
		}
	}
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.offset, b.offset) })
	return entries
}

// computed is the event of a vector. It has the key of what it belongs to, so
// that it comes to the same partition number.
func (p *processor) computed(w *entry, v []float32, started time.Time) (event.Event, error) {
	msg := &spadepb.EmbeddingComputed{
		EntityId: w.entity[:], EntityKind: documentKind, Model: p.m.set.Embedder.Model(), Dim: int32(len(v)), Vector: v,
	}
	key := w.entity.String()
	if w.kind == embedding.Code {
		msg.EntityKind, msg.RunId = environmentKind, w.run
		key = topics.EnvKey(uuid.UUID(w.run), w.entity)
	}
	// The subject holds the model: one thing may have a vector under several.
	subject := uuid.NewSHA1(w.entity, []byte(msg.GetModel()))
	return event.New(key, subject, 0, msg, p.m.set.Source.Stamp(started))
}
