package verify

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/vector"
)

// flush compares the gathered points with those of the store.
func (m *Memory) flush(ctx context.Context) error {
	for _, collection := range []string{m.Environments, m.Documents} {
		var want []expected
		var points []uuid.UUID
		for _, w := range m.batch {
			if w.collection == collection {
				want, points = append(want, w), append(points, w.point)
			}
		}
		if len(want) == 0 {
			continue
		}
		hits, err := m.Points.Get(ctx, collection, points...)
		if err != nil {
			return fmt.Errorf("read points: %w", err)
		}
		held := map[uuid.UUID]vector.Hit{}
		for _, h := range hits {
			held[h.ID] = h
		}
		vectors, err := m.vectors(ctx, want)
		if err != nil {
			return err
		}
		for i, w := range want {
			h, there := held[w.point]
			m.compare(w, h, there, vectors[i])
		}
	}
	m.batch = m.batch[:0]
	return nil
}

// vectors are those that the points should have; nil where that is not known.
func (m *Memory) vectors(ctx context.Context, want []expected) ([][]float32, error) {
	out := make([][]float32, len(want))
	if m.Embedder == nil {
		return out, nil
	}
	var texts []string
	var places []int
	for i, w := range want {
		if w.withdrawn {
			out[i] = make([]float32, m.Embedder.Dim())
			continue
		}
		texts, places = append(texts, w.text), append(places, i)
	}
	if len(texts) == 0 {
		return out, nil
	}
	vectors, err := m.Embedder.Embed(ctx, texts, want[places[0]].kind)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	for i, at := range places {
		out[at] = vectors[i]
	}
	return out, nil
}

func (m *Memory) compare(w expected, h vector.Hit, there bool, v []float32) {
	differ := m.difference(w, h, there, v)
	switch {
	case differ == "":
	case w.pending:
		m.Pending++
	case !there:
		m.Report.Add(AreaMemory, "missing point", w.point.String(), "of %s in %s", w.subject, w.collection)
	default:
		m.Report.Add(AreaMemory, "changed point", w.point.String(), "of %s in %s: %s", w.subject, w.collection, differ)
	}
}

// difference says what is wrong with a point; empty: nothing.
func (m *Memory) difference(w expected, h vector.Hit, there bool, v []float32) string {
	if !there {
		return "it is not there"
	}
	for _, key := range slices.Sorted(maps.Keys(w.payload)) {
		got, ok := h.Payload[key]
		if w.withdrawn && !ok && key != "document_id" && key != "withdrawn" {
			continue // it was withdrawn before it had its point
		}
		if !ok || got != w.payload[key] {
			return fmt.Sprintf("%s is %s, the log says %s", key, quote(h.Payload[key]), quote(w.payload[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.Payload)) {
		if _, ok := w.payload[key]; !ok {
			return fmt.Sprintf("%s is %s, the log has no such thing", key, quote(h.Payload[key]))
		}
	}
	if v != nil {
		return vectorDifference(h.Vector, v)
	}
	return ""
}

// quote writes a value so that it fits on a line.
func quote(v any) string {
	s := fmt.Sprintf("%q", fmt.Sprint(v))
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// tolerance is how far a component may be off: servers normalise vectors in their own arithmetic.
const tolerance = 1e-5

func vectorDifference(got, want []float32) string {
	if len(got) != len(want) {
		return fmt.Sprintf("its vector has %d components, not %d", len(got), len(want))
	}
	want, got = vector.Normalize(want), vector.Normalize(got)
	for i := range got {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance) {
			return fmt.Sprintf("component %d of its vector is %g, the text's is %g", i, got[i], want[i])
		}
	}
	return ""
}
