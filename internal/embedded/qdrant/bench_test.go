package qdrant

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
)

// BenchmarkDedupQuery is the nearest-neighbour query of the acceptance gate over
// the wire: k+16 hits with vectors, of 100 000 points of 256 dimensions.
func BenchmarkDedupQuery(b *testing.B) {
	const n, dim, runs = 100_000, 256, 50
	_, c := newTestClient(b)
	createCollection(b, c, "a", dim, pb.Distance_Cosine)
	if _, err := c.CreateFieldIndex(b.Context(), &pb.CreateFieldIndexCollection{
		CollectionName: "a", FieldName: "run_id", FieldType: pb.FieldType_FieldTypeKeyword.Enum(),
	}); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for i := 0; i < n; i += 1000 {
		var batch []*pb.PointStruct
		for j := range 1000 {
			batch = append(batch, point(uint64(i+j), map[string]any{"run_id": fmt.Sprint((i + j) % runs), "iteration": j}, vector()...))
		}
		upsert(b, c, "a", batch...)
	}
	for name, filter := range map[string]*pb.Filter{
		"all": nil, "one_run_of_50": {Must: []*pb.Condition{pb.NewMatch("run_id", "7")}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				hits, err := c.Query(b.Context(), &pb.QueryPoints{
					CollectionName: "a", Query: pb.NewQuery(vector()...), Limit: pb.PtrOf(uint64(24)), Filter: filter,
					WithVectors: pb.NewWithVectors(true), WithPayload: pb.NewWithPayload(true),
				})
				if err != nil || len(hits) != 24 {
					b.Fatalf("%d hits, %v", len(hits), err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
