package engine

import (
	"unsafe"
)

// Insert is an open streaming INSERT. It holds its handle: no other statement runs there until Commit or Abort,
// one of which must be called. Its methods are for one goroutine.
type Insert struct {
	conn   *Conn
	stream unsafe.Pointer
}

// Insert begins a streaming INSERT of bytes in the given format. sql is the statement without FORMAT and data.
func (c *Conn) Insert(sql, format string, params ...Param) (*Insert, error) {
	c.mu.Lock()
	if c.conn == nil {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	var m cmem
	defer m.release()
	names, nameLens, values, valueLens := m.params(params)
	stream := c.lib.insert(c.handle(), m.text(sql), uintptr(len(sql)), m.text(format), uintptr(len(format)),
		names, nameLens, values, valueLens, uintptr(len(params)))
	in := &Insert{conn: c, stream: stream}
	if text := c.lib.insertError(stream); text != "" {
		in.release()
		return nil, newError(text)
	}
	return in, nil
}

// Write appends a chunk, cut anywhere. It blocks while the engine has enough to do.
func (i *Insert) Write(p []byte) (int, error) {
	if i.stream == nil {
		return 0, ErrClosed
	}
	var m cmem
	defer m.release()
	if state := i.conn.lib.insertAppend(i.stream, m.bytes(p), uintptr(len(p))); state != 0 {
		return 0, i.failure()
	}
	return len(p), nil
}

// Commit ends the input and waits until the rows are stored. The insert is over afterwards, whatever it returns.
func (i *Insert) Commit() (Stats, error) {
	if i.stream == nil {
		return Stats{}, ErrClosed
	}
	defer i.release()
	_, stats, err := i.conn.lib.take(i.conn.lib.insertDone(i.stream))
	return stats, err
}

// Abort drops what the engine has not stored yet. Blocks that were already full and stored stay, as in ClickHouse.
func (i *Insert) Abort() {
	if i.stream == nil {
		return
	}
	i.conn.lib.insertCancel(i.stream)
	i.release()
}

// failure is why an append was refused; a stream that failed says so only when it is asked to finish.
func (i *Insert) failure() error {
	if text := i.conn.lib.insertError(i.stream); text != "" {
		return newError(text)
	}
	if _, err := i.Commit(); err != nil {
		return err
	}
	return newError("the engine refused more data")
}

func (i *Insert) release() {
	i.conn.lib.insertDestroy(i.stream)
	i.stream = nil
	i.conn.mu.Unlock()
}
