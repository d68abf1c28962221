package tables

import (
	"encoding/hex"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// builder appends rows of one table. A row is the calls for its columns, in the order of the table's definition, and end.
// It is not safe for concurrent use.
type builder struct {
	table  *Table
	rb     *array.RecordBuilder
	fields []array.Builder
	col    int // next column of the row
	rows   int
	bytes  int // of the values, about
	hexed  []byte
	stamp  arrow.Timestamp // see Set.stamp

	// Where the rows of the event that was appended last begin, for undo.
	event, start, startBytes int
	sealed                   []arrow.Record // blocks that had to end early
}

func newBuilder(mem memory.Allocator, t *Table, schema *arrow.Schema) *builder {
	rb := array.NewRecordBuilder(mem, schema)
	return &builder{table: t, rb: rb, fields: rb.Fields()}
}

// take hands out the rows and leaves the builder empty.
func (b *builder) take() []arrow.Record {
	out := b.sealed
	b.sealed = nil
	if b.rows > 0 {
		out = append(out, b.rb.NewRecord())
	}
	b.rows, b.bytes, b.start, b.startBytes, b.col = 0, 0, 0, 0, 0
	return out
}

// undo takes back the rows of an event that left its columns uneven. Builders do not shrink, so the rows before it become a
// block of their own.
func (b *builder) undo(event int) {
	if b.event != event {
		return
	}
	rows, bytes := b.start, b.startBytes
	columns := make([]arrow.Array, len(b.fields))
	for i, f := range b.rb.Fields() {
		whole := f.NewArray()
		columns[i] = array.NewSlice(whole, 0, int64(rows))
		whole.Release()
	}
	if rows > 0 {
		b.sealed = append(b.sealed, array.NewRecord(b.rb.Schema(), columns, int64(rows)))
	}
	for _, c := range columns {
		c.Release()
	}
	b.rows, b.bytes, b.start, b.startBytes, b.col = 0, bytes, 0, bytes, 0
}

func (b *builder) release() {
	for _, rec := range b.sealed {
		rec.Release()
	}
	b.rb.Release()
}

// next is the builder of the column whose turn it is.
func (b *builder) next(bytes int) array.Builder {
	f := b.fields[b.col]
	b.col++
	b.bytes += bytes
	return f
}

// end completes a row with the columns that say where it came from.
func (b *builder) end(ev *event.Event, writer uint64) { b.endRows(ev, writer, 1) }

func (b *builder) id(v []byte) {
	b.next(16).(*array.FixedSizeBinaryBuilder).Append(v)
}

// optID appends an id that may be missing.
func (b *builder) optID(v []byte) {
	if len(v) == 0 {
		b.null()
		return
	}
	b.id(v)
}

func (b *builder) null() { b.next(8).AppendNull() }

func (b *builder) str(v string) { b.next(len(v) + 4).(*array.StringBuilder).Append(v) }

// raw appends bytes that need not be text.
func (b *builder) raw(v []byte) { b.next(len(v) + 4).(*array.StringBuilder).BinaryBuilder.Append(v) }

// hex appends a digest in hexadecimal.
func (b *builder) hex(v []byte) { b.raw(b.inHex(v)) }

// inHex is valid until it is called again.
func (b *builder) inHex(v []byte) []byte {
	b.hexed = hex.AppendEncode(b.hexed[:0], v)
	return b.hexed
}

func (b *builder) flag(v bool)   { b.next(1).(*array.BooleanBuilder).Append(v) }
func (b *builder) i32(v int32)   { b.next(4).(*array.Int32Builder).Append(v) }
func (b *builder) i64(v int64)   { b.next(8).(*array.Int64Builder).Append(v) }
func (b *builder) u64(v uint64)  { b.next(8).(*array.Uint64Builder).Append(v) }
func (b *builder) f64(v float64) { b.next(8).(*array.Float64Builder).Append(v) }

func (b *builder) optI32(v int32, ok bool) {
	if !ok {
		b.null()
		return
	}
	b.i32(v)
}

func (b *builder) optI64(v int64, ok bool) {
	if !ok {
		b.null()
		return
	}
	b.i64(v)
}

func (b *builder) optU64(v uint64, ok bool) {
	if !ok {
		b.null()
		return
	}
	b.u64(v)
}

func (b *builder) optF64(v float64, ok bool) {
	if !ok {
		b.null()
		return
	}
	b.f64(v)
}

func (b *builder) time(t time.Time) {
	b.next(8).(*array.TimestampBuilder).Append(arrow.Timestamp(t.UnixMicro()))
}

func (b *builder) optTime(t *timestamppb.Timestamp) {
	if t == nil {
		b.null()
		return
	}
	b.time(t.AsTime())
}

// millis appends an observed duration.
func (b *builder) millis(obs *spadepb.Observed) {
	b.optF64(float64(obs.GetDurationUs())/1000, obs != nil)
}

func (b *builder) list(bytes int) array.Builder {
	l := b.next(bytes + 4).(*array.ListBuilder)
	l.Append(true)
	return l.ValueBuilder()
}

func (b *builder) strs(v []string) {
	bytes := 0
	for _, s := range v {
		bytes += len(s) + 4
	}
	values := b.list(bytes).(*array.StringBuilder)
	for _, s := range v {
		values.Append(s)
	}
}

// ids opens a list of ids; the caller appends to it.
func (b *builder) ids(n int) *array.FixedSizeBinaryBuilder {
	return b.list(16 * n).(*array.FixedSizeBinaryBuilder)
}

func (b *builder) vector(v []float32) {
	b.list(4*len(v)).(*array.Float32Builder).AppendValues(v, nil)
}

// entry is a named figure: Metric, Weight and Stat.
type entry interface {
	GetName() string
	GetValue() float64
}

// entries appends named figures as a map.
func entries[E entry](b *builder, v []E) {
	m := b.next(4).(*array.MapBuilder)
	m.Append(true)
	keys, values := m.KeyBuilder().(*array.StringBuilder), m.ItemBuilder().(*array.Float64Builder)
	for _, e := range v {
		keys.Append(e.GetName())
		values.Append(e.GetValue())
		b.bytes += len(e.GetName()) + 12
	}
}

// find looks a figure up by name.
func find[E entry](v []E, name string) (float64, bool) {
	for _, e := range v {
		if e.GetName() == name {
			return e.GetValue(), true
		}
	}
	return 0, false
}
