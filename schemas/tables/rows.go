package tables

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed256f7767/spade/schemas/event"
)

// What follows appends one column of n rows. As with the columns of one row, all columns come in the order of the table's definition,
// and then endRows.

// unsafely is a builder of a column whose values have one size, once there is room for them.
type unsafely[T any] interface {
	array.Builder
	UnsafeAppend(T)
}

// column appends n values, of so many bytes each.
func column[T any, B unsafely[T]](b *builder, n, size int, value func(i int) T) {
	col := b.next(n * size).(B)
	col.Reserve(n)
	for i := range n {
		col.UnsafeAppend(value(i))
	}
}

func same[T any](v T) func(int) T { return func(int) T { return v } }

// sameID does not reserve: the builder makes room for values one at a time.
func (b *builder) sameID(v []byte, n int) {
	col := b.next(n * 16).(*array.FixedSizeBinaryBuilder)
	for range n {
		col.Append(v)
	}
}

func (b *builder) sameStr(v string, n int) {
	col := b.next(n * (len(v) + 4)).(*array.StringBuilder)
	for range n {
		col.Append(v)
	}
}

func (b *builder) i32s(n int, value func(int) int32) {
	column[int32, *array.Int32Builder](b, n, 4, value)
}

func (b *builder) f64s(n int, value func(int) float64) {
	column[float64, *array.Float64Builder](b, n, 8, value)
}

func (b *builder) flags(n int, value func(int) bool) {
	column[bool, *array.BooleanBuilder](b, n, 1, value)
}

// raws appends bytes that need not be text; each value is used before the next one is asked for.
func (b *builder) raws(n int, value func(int) []byte) {
	col := b.next(0).(*array.StringBuilder)
	for i := range n {
		v := value(i)
		b.bytes += len(v) + 4
		col.BinaryBuilder.Append(v)
	}
}

// endRows completes n rows with the columns that say where they came from.
func (b *builder) endRows(ev *event.Event, writer uint64, n int) {
	b.sameID(ev.ID[:], n)
	b.sameStr(ev.Topic, n)
	b.i32s(n, same(ev.Partition))
	column[int64, *array.Int64Builder](b, n, 8, same(ev.LastOffset))
	column[arrow.Timestamp, *array.TimestampBuilder](b, n, 8, same(arrow.Timestamp(ev.Time.UnixMicro())))
	if b.stamp != 0 {
		column[arrow.Timestamp, *array.TimestampBuilder](b, n, 8, same(b.stamp))
	} else {
		column[uint64, *array.Uint64Builder](b, n, 8, same(writer))
	}
	b.col = 0
	b.rows += n
}
