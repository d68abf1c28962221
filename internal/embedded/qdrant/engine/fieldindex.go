package engine

import (
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/index"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/payload"
)

func newField(key string, kind pb.FieldType) (*field, error) {
	path, err := payload.ParsePath(key)
	if err != nil {
		return nil, errInvalid("%v", err)
	}
	f := &field{kind: kind, path: path}
	if k, ok := index.KindOf(kind); ok {
		f.values = index.New(k)
	}
	return f, nil
}

// CreateIndex indexes a key; one that is indexed in the same way stays as it
// is.
func (e *Engine) CreateIndex(c *Collection, key string, kind pb.FieldType) error {
	f, err := newField(key, kind)
	if err != nil {
		return err
	}
	return e.changeIndex(c, key, func() (*field, error) {
		if old := c.fields[key]; old != nil && old.kind == kind {
			return old, nil
		}
		return f, c.fill(f)
	})
}

// DeleteIndex drops the index of a key; a key without one is no error.
func (e *Engine) DeleteIndex(c *Collection, key string) error {
	return e.changeIndex(c, key, func() (*field, error) { return nil, nil })
}

// changeIndex puts what build returns in the place of the key's index, nil for
// none, and saves the catalogue.
func (e *Engine) changeIndex(c *Collection, key string, build func() (*field, error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.write.Lock()
	defer c.write.Unlock()
	if c.dropped {
		return errNotFound(c.name)
	}
	old := c.fields[key]
	next, err := build()
	if err != nil || next == old {
		return err
	}
	c.setField(key, next)
	if err := e.save(); err != nil {
		c.setField(key, old)
		return err
	}
	return nil
}

func (c *Collection) setField(key string, f *field) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f == nil {
		delete(c.fields, key)
		return
	}
	c.fields[key] = f
}

// fill indexes every point that is there; c.write is held, so none changes.
func (c *Collection) fill(f *field) error {
	if f.values == nil {
		return nil
	}
	for slot, id := range c.ids {
		if id == (ID{}) {
			continue
		}
		fields, err := c.payload(uint32(slot))
		if err != nil {
			return fmt.Errorf("build index: %w", err)
		}
		f.set(uint32(slot), fields)
	}
	return nil
}
