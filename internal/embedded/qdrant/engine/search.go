package engine

import (
	"context"
	"math"
	"runtime"

	pb "github.com/qdrant/go-client/qdrant"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/metric"
)

const (
	// maxHits bounds an answer: limit and offset together.
	maxHits = 100_000
	// parallelFloats is the work from which a scan is worth splitting over cores.
	parallelFloats = 4 << 20
	// maxScanners keeps one search from taking every core of a large machine.
	maxScanners = 4
	// cancelEvery is the number of points between looks at the context.
	cancelEvery = 8192
)

// Query is a nearest-neighbour search. Every search is exact.
type Query struct {
	Vector        []float32
	Filter        *pb.Filter
	Limit, Offset uint64
	// Threshold drops hits that score worse, nil keeps all.
	Threshold   *float32
	WithPayload *pb.WithPayloadSelector
	WithVectors *pb.WithVectorsSelector
}

// Search returns the nearest points, best first, ties by id.
func (c *Collection) Search(ctx context.Context, q Query) ([]*pb.ScoredPoint, error) {
	vector, err := c.checkVector(q.Vector)
	if err != nil {
		return nil, err
	}
	if q.Limit < 1 || q.Limit > maxHits || q.Offset > maxHits-q.Limit {
		return nil, errInvalid("limit %d with offset %d is not within 1 to %d", q.Limit, q.Offset, maxHits)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.dropped {
		return nil, errNotFound(c.name)
	}
	f, err := c.compile(q.Filter)
	if err != nil {
		return nil, err
	}
	best, err := c.nearest(ctx, vector, f, int(q.Limit+q.Offset))
	if err != nil {
		return nil, err
	}
	return c.hits(best, q)
}

func (c *Collection) hits(best []scored, q Query) ([]*pb.ScoredPoint, error) {
	var out []*pb.ScoredPoint
	for i, s := range best {
		score := c.score(s.rank)
		if uint64(i) < q.Offset || (q.Threshold != nil && s.rank < c.rankOf(*q.Threshold)) {
			continue
		}
		fields, err := c.project(s.slot, q.WithPayload)
		if err != nil {
			return nil, err
		}
		out = append(out, &pb.ScoredPoint{
			Id: c.ids[s.slot].Proto(), Score: score, Version: c.version[s.slot],
			Payload: fields, Vectors: c.vectorsOut(s.slot, q.WithVectors),
		})
	}
	return out, nil
}

// nearest scans the candidates, over several cores when there are many.
func (c *Collection) nearest(ctx context.Context, vector []float32, f *filter, k int) ([]scored, error) {
	total := len(c.ids)
	if f.bounded {
		total = len(f.from)
	}
	parts := 1
	if total*c.dim >= parallelFloats {
		parts = min(runtime.GOMAXPROCS(0), maxScanners)
	}
	kept := make([]*topK, parts)
	group, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		kept[i] = &topK{ids: c.ids, k: min(k, total)}
		from, to := total*i/parts, total*(i+1)/parts
		group.Go(func() error { return c.scan(ctx, vector, f, from, to, kept[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, other := range kept[1:] {
		for _, s := range other.heap {
			kept[0].offer(s)
		}
	}
	return kept[0].best(), nil
}

// scan offers the candidates numbered from..to: slots of the filter where it is
// bounded, else slots of the collection.
func (c *Collection) scan(ctx context.Context, vector []float32, f *filter, from, to int, into *topK) error {
	rank, sieve := c.ranker(), c.newSieve(vector)
	var view point
	for i := from; i < to; i++ {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		slot := uint32(i)
		if f.bounded {
			slot = f.from[i]
		}
		ok, err := f.match(&view, slot)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		full := len(into.heap) == into.k
		if full && sieve.below(slot, into.heap[0].rank) {
			continue
		}
		r := rank(vector, c.vector(slot))
		if !full || r >= into.heap[0].rank {
			into.offer(scored{rank: r, slot: slot})
		}
	}
	return nil
}

// ranker is the kernel of the collection's distance, turned so that more is
// better.
func (c *Collection) ranker() func(a, b []float32) float32 {
	switch c.distance {
	case pb.Distance_Euclid:
		return func(a, b []float32) float32 { return -metric.SquaredEuclid(a, b) }
	case pb.Distance_Manhattan:
		return func(a, b []float32) float32 { return -metric.Manhattan(a, b) }
	}
	return metric.Dot
}

// score is the number a client sees for a rank; rankOf is its inverse.
func (c *Collection) score(rank float32) float32 {
	switch c.distance {
	case pb.Distance_Euclid:
		return float32(math.Sqrt(-float64(rank)))
	case pb.Distance_Manhattan:
		return -rank
	}
	return rank
}

func (c *Collection) rankOf(score float32) float32 {
	switch c.distance {
	case pb.Distance_Euclid:
		return -score * score
	case pb.Distance_Manhattan:
		return -score
	}
	return score
}
