package engine

import (
	"fmt"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
)

const (
	// compactMinBytes keeps small logs from being rewritten on every start.
	compactMinBytes = 1 << 20
	// compactRunningBytes is the garbage, over twice the live data, that makes a
	// running collection rewrite its log.
	compactRunningBytes = 64 << 20
	// compactRecordBytes is about the size of one record of a rewritten log.
	compactRecordBytes = 1 << 20
)

// compactIf rewrites the log without what was overwritten or deleted. The
// caller holds c.write, or owns the collection alone.
func (c *Collection) compactIf(due bool) error {
	if !due {
		return nil
	}
	before := c.log.Size()
	next := make([]place, len(c.where))
	log, err := oplog.Rewrite(c.logPath(), func(add func([]byte) (int64, error)) error {
		return c.rewrite(next, add)
	})
	if err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	c.mu.Lock()
	old := c.log
	c.log, c.where = log, next
	c.mu.Unlock()
	c.engine.logger.Info("rewrote a vector log", "collection", c.name, "bytes_before", before, "bytes_after", log.Size())
	return old.Close()
}

func (c *Collection) rewrite(next []place, add func([]byte) (int64, error)) error {
	var items []item
	var slots []uint32
	size := 0
	flush := func() error {
		if len(items) == 0 {
			return nil
		}
		at, err := add(encodeRecord(recordPut, items))
		if err != nil {
			return err
		}
		for i, slot := range slots {
			next[slot] = place{offset: at + int64(items[i].at), size: uint32(len(items[i].payload))}
		}
		items, slots, size = items[:0], slots[:0], 0
		return nil
	}
	for slot, id := range c.ids {
		if id == (ID{}) {
			continue
		}
		raw, err := c.rawPayload(uint32(slot))
		if err != nil {
			return err
		}
		items = append(items, item{version: c.version[slot], id: id, vector: c.vector(uint32(slot)), payload: raw})
		slots = append(slots, uint32(slot))
		if size += len(raw) + 4*c.dim; size >= compactRecordBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
