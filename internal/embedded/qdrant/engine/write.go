package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/metric"
)

// Upsert stores points, replacing those with the same ids. With wait the points
// are on disk when it returns, without it they outlive the process only.
func (c *Collection) Upsert(points []*pb.PointStruct, wait bool) (version uint64, err error) {
	return c.UpsertWhere(points, nil, wait)
}

// UpsertWhere is Upsert that leaves points as they are for which the filter does
// not hold; nil holds for all.
func (c *Collection) UpsertWhere(points []*pb.PointStruct, replace *pb.Filter, wait bool) (version uint64, err error) {
	if len(points) == 0 {
		return 0, errInvalid("Empty update request")
	}
	items := make([]item, len(points))
	for i, p := range points {
		if items[i], err = c.itemOf(p); err != nil {
			return 0, err
		}
	}
	c.write.Lock()
	defer c.write.Unlock()
	if items, err = c.replaceable(items, replace); err != nil {
		return 0, err
	}
	return c.commit(recordPut, items, wait)
}

// replaceable leaves out the items whose points are there and do not match the
// filter; c.write is held, so that nothing changes before the items are stored.
func (c *Collection) replaceable(items []item, replace *pb.Filter) ([]item, error) {
	if replace == nil {
		return items, nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	f, err := c.compile(replace)
	if err != nil {
		return nil, err
	}
	var kept []item
	var view point
	for _, it := range items {
		slot, known := c.slotOf[it.id]
		if known {
			ok, err := f.match(&view, slot)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		kept = append(kept, it)
	}
	return kept, nil
}

func (c *Collection) itemOf(p *pb.PointStruct) (item, error) {
	id, err := ParseID(p.GetId())
	if err != nil {
		return item{}, err
	}
	v, err := denseOf(p.GetVectors())
	if err != nil {
		return item{}, err
	}
	if v, err = c.checkVector(v); err != nil {
		return item{}, err
	}
	raw, err := encodePayload(p.GetPayload())
	return item{id: id, vector: v, payload: raw}, err
}

// denseOf takes the one unnamed dense vector out of a point.
func denseOf(v *pb.Vectors) ([]float32, error) {
	switch o := v.GetVectorsOptions().(type) {
	case *pb.Vectors_Vector:
		return denseVector(o.Vector)
	case *pb.Vectors_Vectors:
		m := o.Vectors.GetVectors()
		if one, ok := m[""]; ok && len(m) == 1 {
			return denseVector(one)
		}
		for name := range m {
			return nil, errInvalid("Not existing vector name error: %s", name)
		}
	}
	return nil, errInvalid("Expected some vectors")
}

func denseVector(v *pb.Vector) ([]float32, error) {
	if o, ok := v.GetVector().(*pb.Vector_Dense); ok {
		return o.Dense.GetData(), nil
	}
	//lint:ignore SA1019 clients before 1.16 send the flat fields
	flat, sparse, multi := v.GetData(), v.GetIndices() != nil, v.GetVectorsCount() != 0
	if v.GetVector() == nil && !sparse && !multi {
		return flat, nil
	}
	return nil, errUnsupported("a vector that is not dense")
}

// checkVector refuses a vector of another size or with NaN or infinity in it,
// and normalises it where the distance is cosine.
func (c *Collection) checkVector(v []float32) ([]float32, error) {
	if len(v) != c.dim {
		return nil, errInvalid("Vector dimension error: expected dim: %d, got %d", c.dim, len(v))
	}
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, errInvalid("vector element %d is %v", i, x)
		}
	}
	if c.distance == pb.Distance_Cosine {
		return metric.Normalize(v), nil
	}
	return v, nil
}

// commit logs the items as one operation and then makes them visible; c.write
// is held.
func (c *Collection) commit(kind byte, items []item, wait bool) (uint64, error) {
	version := c.next
	if len(items) == 0 {
		return version, nil
	}
	for i := range items {
		items[i].version = version
	}
	if c.dropped { // written only with c.write held
		return 0, errNotFound(c.name)
	}
	if kind == recordPut {
		if err := c.reserve(len(items)); err != nil {
			return 0, err
		}
	}
	at, err := c.log.Append(encodeRecord(kind, items))
	if err == nil && wait {
		err = c.log.Sync()
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	err = c.apply(kind, items, at)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	garbage := c.log.Size() - c.live
	return version, c.compactIf(garbage > max(2*c.live, compactRunningBytes))
}

// reserve refuses a write for want of memory before it is logged.
func (c *Collection) reserve(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grow(n)
}

// Delete removes the selected points; absent ids are no error.
func (c *Collection) Delete(sel *pb.PointsSelector, wait bool) (uint64, error) {
	c.write.Lock()
	defer c.write.Unlock()
	ids, err := c.selectIDs(sel)
	if err != nil {
		return 0, err
	}
	items := make([]item, 0, len(ids))
	for _, id := range ids {
		if _, known := c.slotOf[id]; known { // c.write keeps it from changing
			items = append(items, item{id: id})
		}
	}
	return c.commit(recordDelete, items, wait)
}

// selectIDs resolves a selector to point ids, in id order for a filter.
func (c *Collection) selectIDs(sel *pb.PointsSelector) ([]ID, error) {
	switch o := sel.GetPointsSelectorOneOf().(type) {
	case *pb.PointsSelector_Points:
		return parseIDs(o.Points.GetIds())
	case *pb.PointsSelector_Filter:
		c.mu.RLock()
		defer c.mu.RUnlock()
		f, err := c.compile(o.Filter)
		if err != nil {
			return nil, err
		}
		var ids []ID
		err = f.each(func(slot uint32) { ids = append(ids, c.ids[slot]) })
		slices.SortFunc(ids, ID.compare)
		return ids, err
	}
	return nil, errInvalid("Expected a points selector")
}

// PayloadChange turns a point's payload into the new one; it may change its
// argument.
type PayloadChange func(map[string]*pb.Value) map[string]*pb.Value

// SetPayload is the change that adds keys to a payload.
func SetPayload(add map[string]*pb.Value) PayloadChange {
	return func(old map[string]*pb.Value) map[string]*pb.Value {
		if old == nil {
			return add
		}
		maps.Copy(old, add)
		return old
	}
}

// DeleteKeys is the change that drops keys from a payload.
func DeleteKeys(keys []string) PayloadChange {
	return func(old map[string]*pb.Value) map[string]*pb.Value {
		for _, k := range keys {
			delete(old, k)
		}
		return old
	}
}

// ChangePayload changes the payload of the selected points. An id that is not
// there is an error, as in Qdrant.
func (c *Collection) ChangePayload(sel *pb.PointsSelector, change PayloadChange, wait bool) (uint64, error) {
	c.write.Lock()
	defer c.write.Unlock()
	ids, err := c.selectIDs(sel)
	if err != nil {
		return 0, err
	}
	items := make([]item, len(ids))
	for i, id := range ids {
		slot, known := c.slotOf[id]
		if !known {
			return 0, &Error{Kind: NotFound, Msg: fmt.Sprintf("Not found: No point with id %s found", idText(id))}
		}
		old, err := c.payload(slot)
		if err != nil {
			return 0, err
		}
		raw, err := encodePayload(change(old))
		if err != nil {
			return 0, err
		}
		items[i] = item{id: id, payload: raw}
	}
	return c.commit(recordPayload, items, wait)
}

func idText(id ID) string {
	p := id.Proto()
	if u := p.GetUuid(); u != "" {
		return u
	}
	return fmt.Sprint(p.GetNum())
}
