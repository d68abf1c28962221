package qdrant

import (
	"context"
	"errors"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// health answers the version check that every client begins with.
type health struct{ pb.UnimplementedQdrantServer }

func (health) HealthCheck(context.Context, *pb.HealthCheckRequest) (*pb.HealthCheckReply, error) {
	return &pb.HealthCheckReply{Title: "spade embedded vector server", Version: protocolVersion}, nil
}

// collections serves the Collections service.
type collections struct {
	pb.UnimplementedCollectionsServer

	store *engine.Engine
}

var _ pb.CollectionsServer = (*collections)(nil)

func (s *collections) Create(_ context.Context, r *pb.CreateCollection) (*pb.CollectionOperationResponse, error) {
	began := time.Now()
	cfg := &pb.CollectionConfig{
		Params: &pb.CollectionParams{
			ShardNumber: max(r.GetShardNumber(), 1), OnDiskPayload: true, VectorsConfig: r.GetVectorsConfig(),
			SparseVectorsConfig: r.GetSparseVectorsConfig(), ReplicationFactor: r.ReplicationFactor,
			WriteConsistencyFactor: r.WriteConsistencyFactor, ShardingMethod: r.ShardingMethod,
		},
		HnswConfig: r.GetHnswConfig(), OptimizerConfig: r.GetOptimizersConfig(), WalConfig: r.GetWalConfig(),
		QuantizationConfig: r.GetQuantizationConfig(), StrictModeConfig: r.GetStrictModeConfig(), Metadata: r.GetMetadata(),
	}
	if err := s.store.Create(r.GetCollectionName(), cfg); err != nil {
		return nil, err
	}
	return done(true, began), nil
}

func (s *collections) Get(_ context.Context, r *pb.GetCollectionInfoRequest) (*pb.GetCollectionInfoResponse, error) {
	began := time.Now()
	c, err := s.store.Collection(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &pb.GetCollectionInfoResponse{Result: c.Info(), Time: since(began)}, nil
}

func (s *collections) List(context.Context, *pb.ListCollectionsRequest) (*pb.ListCollectionsResponse, error) {
	began := time.Now()
	out := &pb.ListCollectionsResponse{}
	for _, name := range s.store.Names() {
		out.Collections = append(out.Collections, &pb.CollectionDescription{Name: name})
	}
	out.Time = since(began)
	return out, nil
}

func (s *collections) CollectionExists(_ context.Context, r *pb.CollectionExistsRequest) (*pb.CollectionExistsResponse, error) {
	began := time.Now()
	_, err := s.store.Collection(r.GetCollectionName())
	var e *engine.Error
	if err != nil && (!errors.As(err, &e) || e.Kind != engine.NotFound) {
		return nil, err
	}
	return &pb.CollectionExistsResponse{Result: &pb.CollectionExists{Exists: err == nil}, Time: since(began)}, nil
}

func (s *collections) Delete(_ context.Context, r *pb.DeleteCollection) (*pb.CollectionOperationResponse, error) {
	began := time.Now()
	found, err := s.store.Delete(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return done(found, began), nil
}

func (s *collections) UpdateAliases(_ context.Context, r *pb.ChangeAliases) (*pb.CollectionOperationResponse, error) {
	began := time.Now()
	if err := s.store.ChangeAliases(r.GetActions()); err != nil {
		return nil, err
	}
	return done(true, began), nil
}

func (s *collections) ListAliases(context.Context, *pb.ListAliasesRequest) (*pb.ListAliasesResponse, error) {
	began := time.Now()
	return &pb.ListAliasesResponse{Aliases: s.store.Aliases(""), Time: since(began)}, nil
}

func (s *collections) ListCollectionAliases(_ context.Context, r *pb.ListCollectionAliasesRequest) (*pb.ListAliasesResponse, error) {
	began := time.Now()
	if _, err := s.store.Collection(r.GetCollectionName()); err != nil {
		return nil, err
	}
	return &pb.ListAliasesResponse{Aliases: s.store.Aliases(r.GetCollectionName()), Time: since(began)}, nil
}

func done(result bool, began time.Time) *pb.CollectionOperationResponse {
	return &pb.CollectionOperationResponse{Result: result, Time: since(began)}
}

func since(began time.Time) float64 { return time.Since(began).Seconds() }
