package qdrant

import (
	"context"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// points serves the Points service.
type points struct {
	pb.UnimplementedPointsServer

	store *engine.Engine
}

var _ pb.PointsServer = (*points)(nil)

func (s *points) Upsert(_ context.Context, r *pb.UpsertPoints) (*pb.PointsOperationResponse, error) {
	if err := refuse(map[string]bool{
		"upsert with a shard key": r.GetShardKeySelector() != nil,
		"upsert with update_mode": r.UpdateMode != nil && r.GetUpdateMode() != pb.UpdateMode_Upsert,
	}); err != nil {
		return nil, err
	}
	return s.update(r.GetCollectionName(), r.GetWait(), func(c *engine.Collection) (uint64, error) {
		return c.UpsertWhere(r.GetPoints(), r.GetUpdateFilter(), r.GetWait())
	})
}

func (s *points) Delete(_ context.Context, r *pb.DeletePoints) (*pb.PointsOperationResponse, error) {
	if err := refuse(map[string]bool{"delete with a shard key": r.GetShardKeySelector() != nil}); err != nil {
		return nil, err
	}
	return s.update(r.GetCollectionName(), r.GetWait(), func(c *engine.Collection) (uint64, error) {
		return c.Delete(r.GetPoints(), r.GetWait())
	})
}

func (s *points) SetPayload(_ context.Context, r *pb.SetPayloadPoints) (*pb.PointsOperationResponse, error) {
	return s.setPayload(r, engine.SetPayload(r.GetPayload()))
}

func (s *points) OverwritePayload(_ context.Context, r *pb.SetPayloadPoints) (*pb.PointsOperationResponse, error) {
	return s.setPayload(r, func(map[string]*pb.Value) map[string]*pb.Value { return r.GetPayload() })
}

func (s *points) setPayload(r *pb.SetPayloadPoints, change engine.PayloadChange) (*pb.PointsOperationResponse, error) {
	if err := refuse(map[string]bool{
		"payload change with a shard key": r.GetShardKeySelector() != nil, "payload change under a key": r.Key != nil,
	}); err != nil {
		return nil, err
	}
	return s.update(r.GetCollectionName(), r.GetWait(), func(c *engine.Collection) (uint64, error) {
		return c.ChangePayload(r.GetPointsSelector(), change, r.GetWait())
	})
}

func (s *points) DeletePayload(_ context.Context, r *pb.DeletePayloadPoints) (*pb.PointsOperationResponse, error) {
	nested := false
	for _, key := range r.GetKeys() {
		nested = nested || isNested(key)
	}
	if err := refuse(map[string]bool{
		"payload change with a shard key": r.GetShardKeySelector() != nil, "deleting a nested payload key": nested,
	}); err != nil {
		return nil, err
	}
	return s.update(r.GetCollectionName(), r.GetWait(), func(c *engine.Collection) (uint64, error) {
		return c.ChangePayload(r.GetPointsSelector(), engine.DeleteKeys(r.GetKeys()), r.GetWait())
	})
}

func (s *points) ClearPayload(_ context.Context, r *pb.ClearPayloadPoints) (*pb.PointsOperationResponse, error) {
	if err := refuse(map[string]bool{"payload change with a shard key": r.GetShardKeySelector() != nil}); err != nil {
		return nil, err
	}
	return s.update(r.GetCollectionName(), r.GetWait(), func(c *engine.Collection) (uint64, error) {
		clear := func(map[string]*pb.Value) map[string]*pb.Value { return nil }
		return c.ChangePayload(r.GetPoints(), clear, r.GetWait())
	})
}

func (s *points) CreateFieldIndex(_ context.Context, r *pb.CreateFieldIndexCollection) (*pb.PointsOperationResponse, error) {
	return s.update(r.GetCollectionName(), true, func(c *engine.Collection) (uint64, error) {
		if r.FieldType == nil {
			return 0, &engine.Error{Kind: engine.Invalid, Msg: "Wrong input: field type is missing"}
		}
		return 0, s.store.CreateIndex(c, r.GetFieldName(), r.GetFieldType())
	})
}

func (s *points) DeleteFieldIndex(_ context.Context, r *pb.DeleteFieldIndexCollection) (*pb.PointsOperationResponse, error) {
	return s.update(r.GetCollectionName(), true, func(c *engine.Collection) (uint64, error) {
		return 0, s.store.DeleteIndex(c, r.GetFieldName())
	})
}

// update runs a change and answers as Qdrant does: Completed is durable,
// Acknowledged is not yet.
func (s *points) update(name string, wait bool, change func(*engine.Collection) (uint64, error)) (*pb.PointsOperationResponse, error) {
	began := time.Now()
	c, err := s.store.Collection(name)
	if err != nil {
		return nil, err
	}
	version, err := change(c)
	if err != nil {
		return nil, err
	}
	result := &pb.UpdateResult{OperationId: &version, Status: pb.UpdateStatus_Acknowledged}
	if wait {
		result.Status = pb.UpdateStatus_Completed
	}
	return &pb.PointsOperationResponse{Result: result, Time: since(began)}, nil
}
