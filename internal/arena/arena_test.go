package arena

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// What is allocated has its size, is aligned as Arrow wants it, and belongs to nobody else until it is freed.
func TestBuffers(t *testing.T) {
	a := New()
	var held [][]byte
	for i, size := range []int{0, 1, 100, 16 << 10, 16<<10 + 1, 32 << 10, 100_000, 1 << 20, 1<<20 + 1, 3 << 20} {
		b := a.Allocate(size)
		if len(b) != size {
			t.Fatalf("%d bytes, asked for %d", len(b), size)
		}
		for j := range b {
			b[j] = byte(i)
		}
		held = append(held, b)
	}
	for i, b := range held {
		if bytes.Count(b, []byte{byte(i)}) != len(b) {
			t.Errorf("buffer %d was written by another", i)
		}
		grown := a.Reallocate(2*len(b)+1, b)
		if len(grown) != 2*len(b)+1 || bytes.Count(grown[:len(b)], []byte{byte(i)}) != len(b) {
			t.Errorf("buffer %d lost bytes", i)
		}
		shrunk := a.Reallocate(len(b)/2, grown)
		if len(shrunk) != len(b)/2 || bytes.Count(shrunk, []byte{byte(i)}) != len(shrunk) {
			t.Errorf("buffer %d lost bytes when it shrank", i)
		}
		a.Free(shrunk)
	}
}

// A buffer that was freed is used again, dirty as it is, and a record that is built in dirty buffers is the same.
func TestRecordsInUsedBuffers(t *testing.T) {
	a := New()
	mem := memory.NewCheckedAllocator(a)
	defer mem.AssertSize(t, 0)
	first := stream(t, mem, 20_000)
	for range 8 {
		dirty := mem.Allocate(1 << 20)
		for i := range dirty {
			dirty[i] = 0xff
		}
		mem.Free(dirty)
		if again := stream(t, mem, 20_000); !bytes.Equal(first, again) {
			t.Fatal("the record differs")
		}
	}
	if want := stream(t, memory.NewGoAllocator(), 20_000); !bytes.Equal(first, want) {
		t.Fatal("the record differs from that of another allocator")
	}
}

// stream is a record of every kind of column, nulls among them, as an Arrow stream.
func stream(t *testing.T, mem memory.Allocator, n int) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "f", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Nullable: true},
		{Name: "l", Type: arrow.ListOfNonNullable(arrow.BinaryTypes.String)},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.StringBuilder).Append("value of the row"[:i%16])
		b.Field(1).(*array.BooleanBuilder).Append(i%3 == 0)
		if i%5 == 0 {
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
		} else {
			b.Field(2).(*array.Int64Builder).Append(int64(i))
			b.Field(3).(*array.FixedSizeBinaryBuilder).Append(bytes.Repeat([]byte{byte(i)}, 16))
		}
		l := b.Field(4).(*array.ListBuilder)
		l.Append(true)
		for range i % 3 {
			l.ValueBuilder().(*array.StringBuilder).Append("x")
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
