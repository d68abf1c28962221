package wire

import (
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/plugins"
)

// ErrShort is the class of streams that ended before their end mark, or whose end mark counts something else.
var ErrShort = errors.New("short stream")

// SendBytes hands data to send in chunks.
func SendBytes(data []byte, send func(chunk []byte) error) error {
	for len(data) > 0 {
		n := min(len(data), plugins.ChunkBytes)
		if err := send(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Collector gathers chunks up to a limit.
type Collector struct {
	Limit int64
	data  []byte
}

// Add appends one chunk.
func (c *Collector) Add(chunk []byte) error {
	if int64(len(c.data))+int64(len(chunk)) > c.Limit {
		return fmt.Errorf("stream is longer than %d bytes", c.Limit)
	}
	c.data = append(c.data, chunk...)
	return nil
}

// End checks the end mark and returns the bytes.
func (c *Collector) End(count uint64) ([]byte, error) {
	if uint64(len(c.data)) != count {
		return nil, fmt.Errorf("%w: %d bytes arrived, the end mark counts %d", ErrShort, len(c.data), count)
	}
	return c.data, nil
}
