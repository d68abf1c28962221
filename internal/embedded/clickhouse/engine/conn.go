package engine

import (
	"sync"
	"unsafe"
)

// Param is a query parameter: the value, in ClickHouse's escaped text form, of a {name:Type} placeholder.
type Param struct{ Name, Value string }

// Stats are what a finished statement read and wrote.
type Stats struct {
	ElapsedNS                uint64
	ReadRows, ReadBytes      uint64 // from storage
	ResultRows, ResultBytes  uint64
	WrittenRows, WrittenByte uint64
}

// Conn is one handle. Its methods may be called from several goroutines, but they take turns.
type Conn struct {
	lib *Library

	mu   sync.Mutex     // guards the following, and keeps the handle to one statement at a time
	conn unsafe.Pointer // the library's chdb_connection *, nil once closed
}

// handle is the connection that the library's functions take. The caller holds mu.
func (c *Conn) handle() unsafe.Pointer { return *(*unsafe.Pointer)(c.conn) }

// Close gives the handle back. It waits for a statement in flight.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.lib.closeConn(c.conn)
		c.conn = nil
	}
}

// Exec runs one statement and returns its whole output in the given format. The error is an *Error when the engine refused.
func (c *Conn) Exec(sql, format string, params ...Param) ([]byte, Stats, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil, Stats{}, ErrClosed
	}
	var m cmem
	defer m.release()
	names, nameLens, values, valueLens := m.params(params)
	result := c.lib.query(c.handle(), m.text(sql), uintptr(len(sql)), m.text(format), uintptr(len(format)),
		names, nameLens, values, valueLens, uintptr(len(params)))
	return c.lib.take(result)
}

// Class says what a statement does, as the engine's own parser sees it.
type Class uint32

// The classes, in ascending order of what a statement may touch. The engine fixes the numbers.
const (
	ClassReadOnly Class = iota
	ClassMutating
	ClassMutatingGlobal
	ClassControl
	ClassUnknown
)

// Classify parses sql without running it: how many statements it holds, and the widest class among them.
func (c *Conn) Classify(sql string) (count int, class Class, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return 0, ClassUnknown, ErrClosed
	}
	out := struct{ size, count, flags, class uint32 }{size: 16}
	var m cmem
	defer m.release()
	m.pin.Pin(&out)
	if state := c.lib.classify(c.handle(), m.text(sql), uintptr(len(sql)), nil, 0, unsafe.Pointer(&out)); state != 0 {
		return 0, ClassUnknown, newError("the engine could not classify the statement")
	}
	return int(out.count), Class(out.class), nil
}

// take copies a result out of the library and frees it.
func (l *Library) take(result unsafe.Pointer) ([]byte, Stats, error) {
	if result == nil {
		return nil, Stats{}, newError("the engine gave no result")
	}
	defer l.resultDestroy(result)
	if text := l.resultError(result); text != "" {
		return nil, Stats{}, newError(text)
	}
	stats := Stats{
		ElapsedNS:   uint64(l.resultElapsed(result) * 1e9),
		ReadRows:    l.resultStorageRows(result),
		ReadBytes:   l.resultStorageBytes(result),
		ResultRows:  l.resultRows(result),
		ResultBytes: l.resultBytes(result),
		WrittenRows: l.resultWrittenRows(result),
		WrittenByte: l.resultWrittenBytes(result),
	}
	n := l.resultLength(result)
	if n == 0 {
		return nil, stats, nil
	}
	out := make([]byte, n)
	copy(out, unsafe.Slice((*byte)(l.resultBuffer(result)), n))
	return out, stats, nil
}
