package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
)

// TestSketchesChangeNoAnswer compares searches with a ranking of every vector: after upserts, overwrites and deletes, with
// near-copies and ties among the points, and when the collection was opened again.
func TestSketchesChangeNoAnswer(t *testing.T) {
	const dim, points = 100, 5000
	dir := t.TempDir()
	e := openEngine(t, dir)
	if err := e.Create("a", config(dim, pb.Distance_Cosine)); err != nil {
		t.Fatal(err)
	}
	c := collection(t, e)
	r := rand.New(rand.NewPCG(5, 6))
	centres := make([][]float32, 20)
	for i := range centres {
		centres[i] = normal(r, dim)
	}
	// near is one of few directions, or almost: many points have the same vector.
	near := func() []float32 {
		v := slices.Clone(centres[r.IntN(len(centres))])
		if r.IntN(3) > 0 {
			v[r.IntN(dim)] += float32(r.IntN(3)) * 1e-3
		}
		return v
	}
	for round := range 3 {
		var batch []*pb.PointStruct
		for i := range points {
			if v := near(); r.IntN(2) == 0 || round == 0 {
				batch = append(batch, &pb.PointStruct{Id: pb.NewIDNum(uint64(i + 1)), Vectors: pb.NewVectors(v...)})
			}
		}
		if _, err := c.Upsert(batch, false); err != nil {
			t.Fatal(err)
		}
		var gone []*pb.PointId
		for range points / 10 {
			gone = append(gone, pb.NewIDNum(uint64(1+r.IntN(points))))
		}
		if _, err := c.Delete(pb.NewPointsSelectorIDs(gone), false); err != nil {
			t.Fatal(err)
		}
		compareWithRanking(t, c, r, near)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, dir)
	compareWithRanking(t, collection(t, e), r, near)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func collection(t *testing.T, e *Engine) *Collection {
	t.Helper()
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func normal(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func compareWithRanking(t *testing.T, c *Collection, r *rand.Rand, near func() []float32) {
	t.Helper()
	for i := range 40 {
		q := near()
		if i%4 == 0 {
			q = normal(r, c.dim)
		}
		k := 1 + r.IntN(60)
		hits, err := c.Search(t.Context(), Query{Vector: q, Limit: uint64(k)})
		if err != nil {
			t.Fatal(err)
		}
		vector, err := c.checkVector(q)
		if err != nil {
			t.Fatal(err)
		}
		want := &topK{ids: c.ids, k: k}
		for _, slot := range c.slotOf {
			want.offer(scored{rank: c.ranker()(vector, c.vector(slot)), slot: slot})
		}
		for j, s := range want.best() {
			if j >= len(hits) || hits[j].GetId().GetNum() != c.ids[s.slot].Proto().GetNum() || hits[j].GetScore() != s.rank {
				t.Fatalf("hit %d of %d is %v, want %v with %v", j, k, hits[min(j, len(hits)-1)], c.ids[s.slot].Proto(), s.rank)
			}
		}
		if len(hits) != len(want.heap) {
			t.Fatalf("%d hits, want %d", len(hits), len(want.heap))
		}
	}
}
