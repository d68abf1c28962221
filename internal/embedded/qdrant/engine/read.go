package engine

import (
	"context"
	"slices"
	"sync"

	pb "github.com/qdrant/go-client/qdrant"
)

// Get returns the points with these ids that are there, in the order asked.
func (c *Collection) Get(in []*pb.PointId, withPayload *pb.WithPayloadSelector, withVectors *pb.WithVectorsSelector) ([]*pb.RetrievedPoint, error) {
	ids, err := parseIDs(in)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []*pb.RetrievedPoint
	for _, id := range ids {
		slot, ok := c.slotOf[id]
		if !ok {
			continue
		}
		p, err := c.retrieved(slot, withPayload, withVectors)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (c *Collection) retrieved(slot uint32, withPayload *pb.WithPayloadSelector, withVectors *pb.WithVectorsSelector) (*pb.RetrievedPoint, error) {
	fields, err := c.project(slot, withPayload)
	if err != nil {
		return nil, err
	}
	return &pb.RetrievedPoint{Id: c.ids[slot].Proto(), Payload: fields, Vectors: c.vectorsOut(slot, withVectors)}, nil
}

// Page is a stretch of a scroll.
type Page struct {
	Points []*pb.RetrievedPoint
	// Next is where the next page begins, nil after the last.
	Next *pb.PointId
}

// Scroll lists points in id order, from an id on.
func (c *Collection) Scroll(ctx context.Context, req *pb.ScrollPoints, limit int) (Page, error) {
	var from ID
	if req.GetOffset() != nil {
		var err error
		if from, err = ParseID(req.GetOffset()); err != nil {
			return Page{}, err
		}
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	f, err := c.compile(req.GetFilter())
	if err != nil {
		return Page{}, err
	}
	var page Page
	var view point
	for i, slot := range c.inOrder(f, from) {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return Page{}, ctx.Err()
		}
		ok, err := f.match(&view, slot)
		if err != nil {
			return Page{}, err
		}
		if !ok {
			continue
		}
		if len(page.Points) == limit {
			page.Next = c.ids[slot].Proto()
			return page, nil
		}
		p, err := c.retrieved(slot, req.GetWithPayload(), req.GetWithVectors())
		if err != nil {
			return Page{}, err
		}
		page.Points = append(page.Points, p)
	}
	return page, nil
}

// inOrder gives the slots that a scroll visits, by ascending id.
func (c *Collection) inOrder(f *filter, from ID) []uint32 {
	byID := func(a, b uint32) int { return c.ids[a].compare(c.ids[b]) }
	var slots []uint32
	if f.bounded {
		slots = slices.Clone(f.from)
		slices.SortFunc(slots, byID)
	} else {
		slots = c.sorted.get(func() []uint32 {
			all := make([]uint32, 0, len(c.slotOf))
			for _, slot := range c.slotOf {
				all = append(all, slot)
			}
			slices.SortFunc(all, byID)
			return all
		})
	}
	at, _ := slices.BinarySearchFunc(slots, from, func(slot uint32, id ID) int { return c.ids[slot].compare(id) })
	return slots[at:]
}

// Count counts the matching points, exactly.
func (c *Collection) Count(f *pb.Filter) (uint64, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	compiled, err := c.compile(f)
	if err != nil {
		return 0, err
	}
	n := uint64(0)
	err = compiled.each(func(uint32) { n++ })
	return n, err
}

// sortedIDs keeps the id order between writes, so that the pages of a scroll
// do not sort again. Readers share the collection's read lock, hence a lock of
// its own.
type sortedIDs struct {
	mu    sync.Mutex // guards slots
	slots []uint32   // nil when stale
}

func (s *sortedIDs) stale() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = nil
}

func (s *sortedIDs) get(build func() []uint32) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil {
		s.slots = build()
	}
	return s.slots
}

// project reads the parts of a payload that a request asks for.
func (c *Collection) project(slot uint32, sel *pb.WithPayloadSelector) (map[string]*pb.Value, error) {
	switch o := sel.GetSelectorOptions().(type) {
	case *pb.WithPayloadSelector_Enable:
		if !o.Enable {
			return nil, nil
		}
		return c.payload(slot)
	case *pb.WithPayloadSelector_Include:
		return c.keep(slot, func(key string) bool { return slices.Contains(o.Include.GetFields(), key) })
	case *pb.WithPayloadSelector_Exclude:
		return c.keep(slot, func(key string) bool { return !slices.Contains(o.Exclude.GetFields(), key) })
	}
	return nil, nil
}

func (c *Collection) keep(slot uint32, wanted func(key string) bool) (map[string]*pb.Value, error) {
	fields, err := c.payload(slot)
	for key := range fields {
		if !wanted(key) {
			delete(fields, key)
		}
	}
	return fields, err
}

func (c *Collection) vectorsOut(slot uint32, sel *pb.WithVectorsSelector) *pb.VectorsOutput {
	if !sel.GetEnable() {
		return nil
	}
	data := slices.Clone(c.vector(slot))
	return &pb.VectorsOutput{VectorsOptions: &pb.VectorsOutput_Vector{
		Vector: &pb.VectorOutput{Vector: &pb.VectorOutput_Dense{Dense: &pb.DenseVector{Data: data}}},
	}}
}
