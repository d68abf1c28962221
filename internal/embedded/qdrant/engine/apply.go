package engine

import (
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/payload"
)

// replay applies one record of the log while the collection opens.
func (c *Collection) replay(offset int64, body []byte) error {
	kind, items, err := decodeRecord(body)
	if err != nil {
		return fmt.Errorf("at byte %d: %w", offset, err)
	}
	for _, it := range items {
		if kind == recordPut && len(it.vector) != c.dim {
			return fmt.Errorf("at byte %d: vector of %d in a collection of %d", offset, len(it.vector), c.dim)
		}
	}
	return c.apply(kind, items, offset)
}

// apply makes a logged record visible. offset is where its body lies in the
// log. The caller holds c.mu, or owns the collection alone.
func (c *Collection) apply(kind byte, items []item, offset int64) error {
	if kind == recordPut {
		if err := c.grow(len(items)); err != nil {
			return err
		}
	}
	for _, it := range items {
		c.next = max(c.next, it.version+1)
		slot, known := c.slotOf[it.id]
		if kind == recordDelete {
			if known {
				c.remove(slot)
			}
			continue
		}
		if !known {
			if kind == recordPayload {
				continue // its point was deleted by a record that compaction dropped
			}
			slot = c.allocate(it.id)
		}
		if kind == recordPut {
			copy(c.vector(slot), it.vector)
			c.sketch(slot, it.vector)
		}
		c.live += int64(len(it.payload)) - int64(c.where[slot].size)
		c.where[slot] = place{offset: offset + int64(it.at), size: uint32(len(it.payload))}
		c.version[slot] = it.version
		if err := c.reindex(slot, it.payload); err != nil {
			return err
		}
	}
	return nil
}

// pointBytes is what one point without payload takes in the log, about.
func (c *Collection) pointBytes() int64 { return int64(c.dim)*4 + idSize + 12 }

// grow makes room for n more points, so that nothing can fail half-way through
// a record.
func (c *Collection) grow(n int) error {
	have := len(c.vectors)*chunkVectors - len(c.slotOf)
	for have < n {
		if err := c.engine.budget.take(c.chunkBytes()); err != nil {
			return err
		}
		c.vectors = append(c.vectors, make([]float32, chunkVectors*c.dim))
		if c.sketched() {
			c.sketches = append(c.sketches, newSketches(c.dim))
		}
		have += chunkVectors
	}
	return nil
}

func (c *Collection) allocate(id ID) uint32 {
	var slot uint32
	if n := len(c.free); n > 0 {
		slot, c.free = c.free[n-1], c.free[:n-1]
	} else {
		slot = uint32(len(c.ids))
		c.ids = append(c.ids, ID{})
		c.where = append(c.where, place{})
		c.version = append(c.version, 0)
	}
	c.ids[slot] = id
	c.slotOf[id] = slot
	c.live += c.pointBytes()
	c.sorted.stale()
	return slot
}

func (c *Collection) remove(slot uint32) {
	for _, f := range c.fields {
		if f.values != nil {
			f.values.Remove(slot)
		}
	}
	c.live -= c.pointBytes() + int64(c.where[slot].size)
	delete(c.slotOf, c.ids[slot])
	c.ids[slot], c.where[slot] = ID{}, place{}
	c.free = append(c.free, slot)
	c.sorted.stale()
}

func (c *Collection) reindex(slot uint32, raw []byte) error {
	if len(c.fields) == 0 {
		return nil
	}
	s := &pb.Struct{}
	if err := proto.Unmarshal(raw, s); err != nil {
		return fmt.Errorf("decode payload: %w", err)
	}
	for _, f := range c.fields {
		f.set(slot, s.GetFields())
	}
	return nil
}

func (f *field) set(slot uint32, fields map[string]*pb.Value) {
	if f.values != nil {
		f.values.Set(slot, payload.Flatten(f.path.Values(fields)))
	}
}
