package vector

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"
)

const (
	// extraHits are asked for beyond k, so that hits whose server scores are as
	// good as equal are all there to be ordered by the recomputed ones.
	extraHits = 16
	// maxRequest is where a write is split into several requests.
	maxRequest = 8 << 20
	// pageSize is the number of points of one page of a scroll.
	pageSize = 256
)

// Point is something to store. Payload values are strings, bools, integers,
// floats, nil, and lists and maps of these.
type Point struct {
	ID      uuid.UUID
	Vector  []float32
	Payload map[string]any
}

// Hit is something found. Score is the recomputed cosine; it is zero where
// nothing was searched for. Integers of the payload come back as int64.
type Hit struct {
	ID      uuid.UUID
	Score   float64
	Vector  []float32
	Payload map[string]any
}

// Upsert stores points, replacing those with the same ids. They are durable
// when it returns.
func (c *Client) Upsert(ctx context.Context, collection string, points []Point) error {
	return c.put(ctx, collection, points, nil)
}

// Insert stores the points whose ids are not there yet and leaves the others as
// they are, in one step of the store's: whatever another writer did since the
// caller looked stays. They are durable when it returns.
func (c *Client) Insert(ctx context.Context, collection string, points []Point) error {
	return c.put(ctx, collection, points, All(Never()).filter())
}

// put stores points, in several requests where they are many. Those that are
// there are replaced where the filter holds; nil holds for all.
func (c *Client) put(ctx context.Context, collection string, points []Point, replace *pb.Filter) error {
	var batch []*pb.PointStruct
	size := 0
	for _, p := range points {
		if err := c.checkDim(collection, len(p.Vector)); err != nil {
			return fmt.Errorf("point %s: %w", p.ID, err)
		}
		payload, err := pb.TryValueMap(p.Payload)
		if err != nil {
			return fmt.Errorf("point %s: %w: %w", p.ID, ErrRejected, err)
		}
		one := &pb.PointStruct{
			Id: pb.NewIDUUID(p.ID.String()), Vectors: pb.NewVectorsDense(Normalize(p.Vector)), Payload: payload,
		}
		n := proto.Size(one)
		if size+n > maxRequest && len(batch) > 0 {
			if err := c.upsert(ctx, collection, batch, replace); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size = append(batch, one), size+n
	}
	if len(batch) == 0 {
		return nil
	}
	return c.upsert(ctx, collection, batch, replace)
}

func (c *Client) upsert(ctx context.Context, collection string, batch []*pb.PointStruct, replace *pb.Filter) error {
	return c.update(ctx, "upsert into "+collection, func(ctx context.Context) (*pb.UpdateResult, error) {
		return c.qdrant.Upsert(ctx, &pb.UpsertPoints{
			CollectionName: collection, Wait: pb.PtrOf(true), Points: batch, UpdateFilter: replace,
		})
	})
}

// update insists on Completed: a write that is merely acknowledged can still be
// lost or refused.
func (c *Client) update(ctx context.Context, op string, fn func(context.Context) (*pb.UpdateResult, error)) error {
	return c.call(ctx, op, func(ctx context.Context) error {
		result, err := fn(ctx)
		if err == nil && result.GetStatus() != pb.UpdateStatus_Completed {
			err = fmt.Errorf("the store answered %s and not Completed", result.GetStatus())
		}
		return err
	})
}

// Delete removes points; those that are not there are no error.
func (c *Client) Delete(ctx context.Context, collection string, ids ...uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	return c.update(ctx, "delete from "+collection, func(ctx context.Context) (*pb.UpdateResult, error) {
		return c.qdrant.Delete(ctx, &pb.DeletePoints{
			CollectionName: collection, Wait: pb.PtrOf(true), Points: pb.NewPointsSelectorIDs(pointIDs(ids)),
		})
	})
}

// Search returns the k nearest points that the condition holds for: exact, by
// recomputed cosine, best first, ties by id.
func (c *Client) Search(ctx context.Context, collection string, vector []float32, where Condition, k int) ([]Hit, error) {
	if k < 1 {
		return nil, nil
	}
	if err := c.checkDim(collection, len(vector)); err != nil {
		return nil, err
	}
	query := Normalize(vector)
	var found []*pb.ScoredPoint
	err := c.call(ctx, "search "+collection, func(ctx context.Context) (err error) {
		found, err = c.qdrant.Query(ctx, &pb.QueryPoints{
			CollectionName: collection, Query: pb.NewQueryDense(query), Filter: where.filter(),
			Limit: pb.PtrOf(uint64(k + extraHits)), Params: &pb.SearchParams{Exact: pb.PtrOf(true)},
			WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(found))
	for _, p := range found {
		h, err := hitOf(p.GetId(), p.GetPayload(), p.GetVectors())
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", collection, err)
		}
		if len(h.Vector) != len(query) {
			return nil, &DimensionError{Collection: collection, Want: len(h.Vector), Got: len(query)}
		}
		h.Score = Cosine(query, h.Vector)
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return hits[:min(k, len(hits))], nil
}

// Get returns the points of these ids that are there, in the order of ids.
func (c *Client) Get(ctx context.Context, collection string, ids ...uuid.UUID) ([]Hit, error) {
	byID := make(map[uuid.UUID]Hit, len(ids))
	for part := range slices.Chunk(ids, pageSize) {
		var found []*pb.RetrievedPoint
		err := c.call(ctx, "get from "+collection, func(ctx context.Context) (err error) {
			found, err = c.qdrant.Get(ctx, &pb.GetPoints{
				CollectionName: collection, Ids: pointIDs(part),
				WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true),
			})
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			h, err := hitOf(p.GetId(), p.GetPayload(), p.GetVectors())
			if err != nil {
				return nil, fmt.Errorf("get from %s: %w", collection, err)
			}
			byID[h.ID] = h
		}
	}
	var out []Hit
	for _, id := range ids {
		if h, ok := byID[id]; ok {
			out = append(out, h)
		}
	}
	return out, nil
}

// Exists reports which of these ids have a point.
func (c *Client) Exists(ctx context.Context, collection string, ids ...uuid.UUID) (map[uuid.UUID]bool, error) {
	out := make(map[uuid.UUID]bool, len(ids))
	for part := range slices.Chunk(ids, pageSize) {
		var found []*pb.RetrievedPoint
		err := c.call(ctx, "look for points of "+collection, func(ctx context.Context) (err error) {
			found, err = c.qdrant.Get(ctx, &pb.GetPoints{
				CollectionName: collection, Ids: pointIDs(part),
				WithPayload: pb.NewWithPayload(false), WithVectors: pb.NewWithVectors(false),
			})
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			id, err := uuid.Parse(p.GetId().GetUuid())
			if err != nil {
				return nil, fmt.Errorf("look for points of %s: %w", collection, err)
			}
			out[id] = true
		}
	}
	return out, nil
}

// Count is the exact number of points that the condition holds for.
func (c *Client) Count(ctx context.Context, collection string, where Condition) (int64, error) {
	var n uint64
	err := c.call(ctx, "count in "+collection, func(ctx context.Context) (err error) {
		n, err = c.qdrant.Count(ctx, &pb.CountPoints{CollectionName: collection, Filter: where.filter(), Exact: pb.PtrOf(true)})
		return err
	})
	return int64(n), err
}

// Scroll calls fn for every point that the condition holds for, in id order,
// until fn fails.
func (c *Client) Scroll(ctx context.Context, collection string, where Condition, fn func(Hit) error) error {
	req := &pb.ScrollPoints{
		CollectionName: collection, Filter: where.filter(), Limit: pb.PtrOf(uint32(pageSize)),
		WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true),
	}
	for {
		var page *pb.ScrollResponse
		err := c.call(ctx, "scroll "+collection, func(ctx context.Context) (err error) {
			page, err = c.qdrant.GetPointsClient().Scroll(ctx, req)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range page.GetResult() {
			h, err := hitOf(p.GetId(), p.GetPayload(), p.GetVectors())
			if err == nil {
				err = fn(h)
			}
			if err != nil {
				return fmt.Errorf("scroll %s: %w", collection, err)
			}
		}
		if page.GetNextPageOffset() == nil {
			return nil
		}
		req.Offset = page.GetNextPageOffset()
	}
}
