package bus

import (
	"io"
	"math/bits"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/seed256f7767/spade/schemas/event"
)

// batchOverhead is the header of a record batch, version 2.
const batchOverhead = 61

// recordSize is what a record takes in a batch. The time and offset deltas are
// counted at their longest for any batch, so the sum never falls short.
func recordSize(r event.Record) int {
	n := 1 + 6 + 5 // attributes, time delta, offset delta
	n += bytesSize(len(r.Key)) + bytesSize(len(r.Value)) + varintSize(len(r.Headers))
	for _, h := range r.Headers {
		n += bytesSize(len(h.Key)) + bytesSize(len(h.Value))
	}
	return varintSize(n) + n
}

func bytesSize(n int) int { return varintSize(n) + n }

// varintSize is the length of a zigzag varint of n >= 0.
func varintSize(n int) int { return (bits.Len64(uint64(n)<<1|1) + 6) / 7 }

// recordReader feeds records to kafka-go without allocating for each.
type recordReader struct {
	records []event.Record
	next    int
	rec     protocol.Record
	key     view
	value   view
	headers []protocol.Header
}

// ReadRecord returns the next record; it is valid until the following call.
func (r *recordReader) ReadRecord() (*protocol.Record, error) {
	if r.next == len(r.records) {
		return nil, io.EOF
	}
	src := &r.records[r.next]
	r.next++
	r.headers = r.headers[:0]
	for _, h := range src.Headers {
		r.headers = append(r.headers, protocol.Header(h))
	}
	r.key, r.value = view{rest: src.Key}, view{rest: src.Value}
	r.rec = protocol.Record{Time: src.Time, Key: &r.key, Value: &r.value, Headers: r.headers}
	return &r.rec, nil
}

// view reads a byte slice in place.
type view struct{ rest []byte }

// Read copies the next bytes.
func (v *view) Read(p []byte) (int, error) {
	if len(v.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, v.rest)
	v.rest = v.rest[n:]
	return n, nil
}

// WriteTo hands over all bytes at once.
func (v *view) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(v.rest)
	v.rest = v.rest[n:]
	return int64(n), err
}

// Len is the number of bytes left.
func (v *view) Len() int { return len(v.rest) }

// Close does nothing: the bytes belong to the event.
func (v *view) Close() error { return nil }
