package qdrant

import (
	"context"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// defaultLimit is Qdrant's for queries and scrolls without one.
const defaultLimit = 10

func (s *points) Get(_ context.Context, r *pb.GetPoints) (*pb.GetResponse, error) {
	began := time.Now()
	if err := refuse(map[string]bool{"get with a shard key": r.GetShardKeySelector() != nil}); err != nil {
		return nil, err
	}
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	found, err := c.Get(r.GetIds(), r.GetWithPayload(), r.GetWithVectors())
	if err != nil {
		return nil, err
	}
	return &pb.GetResponse{Result: found, Time: since(began)}, nil
}

func (s *points) Scroll(ctx context.Context, r *pb.ScrollPoints) (*pb.ScrollResponse, error) {
	began := time.Now()
	if err := refuse(map[string]bool{
		"scroll with order_by": r.GetOrderBy() != nil, "scroll with a shard key": r.GetShardKeySelector() != nil,
	}); err != nil {
		return nil, err
	}
	limit := uint32(defaultLimit)
	if r.Limit != nil {
		limit = r.GetLimit()
	}
	if limit == 0 {
		return nil, &engine.Error{Kind: engine.Invalid, Msg: "Wrong input: limit must be 1 or more"}
	}
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	page, err := c.Scroll(ctx, r, int(limit))
	if err != nil {
		return nil, err
	}
	return &pb.ScrollResponse{Result: page.Points, NextPageOffset: page.Next, Time: since(began)}, nil
}

func (s *points) Count(_ context.Context, r *pb.CountPoints) (*pb.CountResponse, error) {
	began := time.Now()
	if err := refuse(map[string]bool{"count with a shard key": r.GetShardKeySelector() != nil}); err != nil {
		return nil, err
	}
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	n, err := c.Count(r.GetFilter())
	if err != nil {
		return nil, err
	}
	return &pb.CountResponse{Result: &pb.CountResult{Count: n}, Time: since(began)}, nil
}

func (s *points) Search(ctx context.Context, r *pb.SearchPoints) (*pb.SearchResponse, error) {
	began := time.Now()
	hits, err := s.search(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pb.SearchResponse{Result: hits, Time: since(began)}, nil
}

func (s *points) SearchBatch(ctx context.Context, r *pb.SearchBatchPoints) (*pb.SearchBatchResponse, error) {
	began := time.Now()
	out := &pb.SearchBatchResponse{}
	for _, one := range r.GetSearchPoints() {
		one.CollectionName = r.GetCollectionName()
		hits, err := s.search(ctx, one)
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, &pb.BatchResult{Result: hits})
	}
	out.Time = since(began)
	return out, nil
}

func (s *points) search(ctx context.Context, r *pb.SearchPoints) ([]*pb.ScoredPoint, error) {
	if err := refuse(map[string]bool{
		"search with a vector name":  r.GetVectorName() != "",
		"search with sparse indices": r.GetSparseIndices() != nil,
		"search with a shard key":    r.GetShardKeySelector() != nil,
		"choosing vectors by name":   r.GetWithVectors().GetInclude() != nil,
	}); err != nil {
		return nil, err
	}
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return c.Search(ctx, engine.Query{
		Vector: r.GetVector(), Filter: r.GetFilter(), Limit: r.GetLimit(), Offset: r.GetOffset(),
		Threshold: r.ScoreThreshold, WithPayload: r.GetWithPayload(), WithVectors: r.GetWithVectors(),
	})
}

func (s *points) Query(ctx context.Context, r *pb.QueryPoints) (*pb.QueryResponse, error) {
	began := time.Now()
	hits, err := s.query(ctx, r)
	if err != nil {
		return nil, err
	}
	return &pb.QueryResponse{Result: hits, Time: since(began)}, nil
}

func (s *points) QueryBatch(ctx context.Context, r *pb.QueryBatchPoints) (*pb.QueryBatchResponse, error) {
	began := time.Now()
	out := &pb.QueryBatchResponse{}
	for _, one := range r.GetQueryPoints() {
		one.CollectionName = r.GetCollectionName()
		hits, err := s.query(ctx, one)
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, &pb.BatchResult{Result: hits})
	}
	out.Time = since(began)
	return out, nil
}
