package qdrant

import (
	"context"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// query answers the universal query: nearest to a vector or to a stored point,
// or, without a query, the points in id order.
func (s *points) query(ctx context.Context, r *pb.QueryPoints) ([]*pb.ScoredPoint, error) {
	if err := refuse(map[string]bool{
		"query with prefetch":       len(r.GetPrefetch()) > 0,
		"query using a vector name": r.GetUsing() != "",
		"query with lookup_from":    r.GetLookupFrom() != nil,
		"query with a shard key":    r.GetShardKeySelector() != nil,
		"choosing vectors by name":  r.GetWithVectors().GetInclude() != nil,
	}); err != nil {
		return nil, err
	}
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	q := engine.Query{
		Filter: r.GetFilter(), Limit: defaultLimit, Offset: r.GetOffset(),
		Threshold: r.ScoreThreshold, WithPayload: r.GetWithPayload(), WithVectors: r.GetWithVectors(),
	}
	if r.Limit != nil {
		q.Limit = r.GetLimit()
	}
	if r.GetQuery() == nil {
		return s.listed(ctx, c, q)
	}
	nearest, ok := r.GetQuery().GetVariant().(*pb.Query_Nearest)
	if !ok {
		return nil, refuse(map[string]bool{fmt.Sprintf("a query of kind %T", r.GetQuery().GetVariant()): true})
	}
	switch o := nearest.Nearest.GetVariant().(type) {
	case *pb.VectorInput_Dense:
		q.Vector = o.Dense.GetData()
	case *pb.VectorInput_Id:
		if q.Vector, err = vectorOf(c, o.Id); err != nil {
			return nil, err
		}
		// A stored point is not its own neighbour.
		q.Filter = &pb.Filter{MustNot: []*pb.Condition{pb.NewHasID(o.Id)}}
		if r.GetFilter() != nil {
			q.Filter.Must = []*pb.Condition{pb.NewFilterAsCondition(r.GetFilter())}
		}
	default:
		return nil, refuse(map[string]bool{fmt.Sprintf("a query by %T", o): true})
	}
	return c.Search(ctx, q)
}

func vectorOf(c *engine.Collection, id *pb.PointId) ([]float32, error) {
	found, err := c.Get([]*pb.PointId{id}, nil, pb.NewWithVectors(true))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &engine.Error{Kind: engine.NotFound, Msg: fmt.Sprintf("Not found: No point with id %v found", id)}
	}
	return found[0].GetVectors().GetVector().GetDense().GetData(), nil
}

func (s *points) listed(ctx context.Context, c *engine.Collection, q engine.Query) ([]*pb.ScoredPoint, error) {
	req := &pb.ScrollPoints{Filter: q.Filter, WithPayload: q.WithPayload, WithVectors: q.WithVectors}
	page, err := c.Scroll(ctx, req, int(min(q.Limit+q.Offset, maxListed)))
	if err != nil {
		return nil, err
	}
	var out []*pb.ScoredPoint
	for i, p := range page.Points {
		if uint64(i) >= q.Offset {
			out = append(out, &pb.ScoredPoint{Id: p.GetId(), Payload: p.GetPayload(), Vectors: p.GetVectors()})
		}
	}
	return out, nil
}

// maxListed bounds a query without a vector.
const maxListed = 100_000
