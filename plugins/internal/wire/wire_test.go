package wire

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

func records(t testing.TB, rows ...int) []arrow.Record {
	t.Helper()
	sc := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	var out []arrow.Record
	for _, n := range rows {
		rb := array.NewRecordBuilder(memory.DefaultAllocator, sc)
		for i := range n {
			rb.Field(0).(*array.Int64Builder).Append(int64(i))
			rb.Field(1).(*array.StringBuilder).Append("text")
		}
		out = append(out, rb.NewRecord())
		rb.Release()
	}
	t.Cleanup(func() {
		for _, r := range out {
			r.Release()
		}
	})
	return out
}

// send returns the parts of a stream.
func send(t testing.TB, recs []arrow.Record) []Part {
	t.Helper()
	var parts []Part
	end, err := SendArrow(Records(recs), func(c []byte) error {
		parts = append(parts, Part{Chunk: append([]byte(nil), c...)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(parts, Part{End: end})
}

func from(parts []Part) func() (Part, error) {
	return func() (Part, error) {
		if len(parts) == 0 {
			return Part{}, io.EOF
		}
		p := parts[0]
		parts = parts[1:]
		return p, nil
	}
}

func receive(next func() (Part, error)) (rows int64, err error) {
	for rec, e := range ReceiveArrow(next) {
		if e != nil {
			return rows, e
		}
		rows += rec.NumRows()
	}
	return rows, nil
}

func TestArrowCrosses(t *testing.T) {
	for name, rows := range map[string][]int{"none": nil, "one": {3}, "many": {1, 0, 7}, "larger than a chunk": {300_000}} {
		t.Run(name, func(t *testing.T) {
			var want int64
			for _, n := range rows {
				want += int64(n)
			}
			parts := send(t, records(t, rows...))
			for _, p := range parts {
				if len(p.Chunk) > plugins.ChunkBytes {
					t.Errorf("chunk of %d bytes", len(p.Chunk))
				}
			}
			got, err := receive(from(parts))
			if err != nil || got != want {
				t.Errorf("%d rows, %v; want %d", got, err, want)
			}
		})
	}
}

func TestEveryCutIsNoticed(t *testing.T) {
	parts := send(t, records(t, 5, 4))
	whole, end := parts[0].Chunk, parts[len(parts)-1]
	for n := range len(whole) {
		if _, err := receive(from([]Part{{Chunk: whole[:n]}})); !errors.Is(err, ErrShort) && !errors.Is(err, plugins.ErrInvalidBatch) {
			t.Fatalf("%d of %d bytes without end mark: %v", n, len(whole), err)
		}
		if _, err := receive(from([]Part{{Chunk: whole[:n]}, end})); err == nil {
			t.Fatalf("%d of %d bytes with end mark: no error", n, len(whole))
		}
	}
}

func TestWrongCountsAreNoticed(t *testing.T) {
	parts := send(t, records(t, 5))
	for name, spoil := range map[string]func(*pluginpb.ArrowEnd){
		"rows":    func(e *pluginpb.ArrowEnd) { e.Rows++ },
		"batches": func(e *pluginpb.ArrowEnd) { e.Batches++ },
		"bytes":   func(e *pluginpb.ArrowEnd) { e.Bytes++ },
	} {
		end := &pluginpb.ArrowEnd{Rows: 5, Batches: 1, Bytes: parts[len(parts)-1].End.Bytes}
		spoil(end)
		if _, err := receive(from([]Part{parts[0], {End: end}})); !errors.Is(err, ErrShort) {
			t.Errorf("%s: got %v, want ErrShort", name, err)
		}
	}
}

func TestErrorOfTheTransportComesThrough(t *testing.T) {
	broken := errors.New("connection reset")
	_, err := receive(func() (Part, error) { return Part{}, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestCollectorChecksItsEnd(t *testing.T) {
	c := Collector{Limit: 4}
	if err := c.Add([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.End(4); !errors.Is(err, ErrShort) {
		t.Errorf("got %v, want ErrShort", err)
	}
	if err := c.Add([]byte("de")); err == nil {
		t.Error("a stream over the limit was taken")
	}
	if b, err := c.End(3); err != nil || string(b) != "abc" {
		t.Errorf("got %q, %v", b, err)
	}
}

func FuzzReceiveArrow(f *testing.F) {
	parts := send(f, records(f, 3))
	f.Add(parts[0].Chunk, uint64(3), uint64(1))
	f.Add([]byte{}, uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, rows, batches uint64) {
		end := &pluginpb.ArrowEnd{Rows: rows, Batches: batches, Bytes: uint64(len(data))}
		got, err := receive(from([]Part{{Chunk: data}, {End: end}}))
		if err == nil && uint64(got) != rows {
			t.Errorf("%d rows, the end mark counts %d, and no error", got, rows)
		}
	})
}
