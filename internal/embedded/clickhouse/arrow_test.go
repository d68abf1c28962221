package clickhouse_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

// stepRows is an ArrowStream of one record batch that looks like the steps table.
func stepRows(tb testing.TB, from, count int) []byte {
	tb.Helper()
	pool := memory.NewGoAllocator()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "observation", Type: arrow.BinaryTypes.String},
		{Name: "action", Type: arrow.BinaryTypes.String},
		{Name: "reward", Type: arrow.PrimitiveTypes.Float64},
		{Name: "logprob", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(pool, schema)
	defer b.Release()
	for i := from; i < from+count; i++ {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("You stand in room %d.\n\nThere are doors to the north and\x00south. Your score is %d.", i%97, i%7))
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf(`{"tool": "move", "room": %d}`, i%13))
		b.Field(3).(*array.Float64Builder).Append(float64(i%3) / 2)
		if i%4 == 0 {
			b.Field(4).(*array.Float32Builder).AppendNull()
		} else {
			b.Field(4).(*array.Float32Builder).Append(-float32(i%11) / 10)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(record); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

const stepTable = `CREATE TABLE steps (id Int64, observation String, action String, reward Float64, logprob Nullable(Float32))
	ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 1000`

// oneBlock pins what decides where an insert is cut into blocks, as the warehouse does.
func oneBlock(ctx context.Context, token string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": token, "max_insert_block_size": 1 << 30, "min_insert_block_size_rows": 1 << 30,
		"min_insert_block_size_bytes": 1 << 40, "input_format_parallel_parsing": 0, "async_insert": 0, "max_insert_threads": 1,
	}))
}

func count(tb testing.TB, conn driver.Conn, sql string) uint64 {
	tb.Helper()
	var n uint64
	if err := conn.QueryRow(tb.Context(), sql).Scan(&n); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestArrowStream(t *testing.T) {
	conn := clickhousetest.Open(t, clickhousetest.Options(clickhousetest.Start(t)))
	ctx := t.Context()
	if err := conn.Exec(ctx, stepTable); err != nil {
		t.Fatal(err)
	}
	const rows = 100_000
	first, second := stepRows(t, 0, rows), stepRows(t, rows, rows)
	for _, insert := range []struct {
		token string
		data  []byte
		want  uint64
	}{
		{"steps:a:0:0-99", first, rows},
		{"steps:a:0:0-99", first, rows}, // a retry changes nothing
		{"steps:a:0:100-199", second, 2 * rows},
		{"steps:a:1:0-99", first, 3 * rows}, // equal rows of another range are other rows
	} {
		err := conn.InsertFormat(oneBlock(ctx, insert.token), "ArrowStream", "INSERT INTO steps", bytes.NewReader(insert.data))
		if err != nil {
			t.Fatal(err)
		}
		if got := count(t, conn, "SELECT count() FROM steps"); got != insert.want {
			t.Fatalf("%d rows after %s, want %d", got, insert.token, insert.want)
		}
	}
	if parts := count(t, conn, "SELECT count() FROM system.parts WHERE table = 'steps' AND level = 0 AND (active OR NOT active)"); parts != 3 {
		t.Errorf("three inserts made %d parts: an insert was cut", parts)
	}
	readBack(t, conn, rows)
}

// readBack compares the rows with what was written, as Arrow again.
func readBack(t *testing.T, conn driver.Conn, rows int) {
	t.Helper()
	stream, err := conn.QueryFormat(t.Context(), "ArrowStream", "SELECT id, observation, logprob FROM steps WHERE id < 100000 ORDER BY id LIMIT 1 BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close() //nolint:errcheck // read to its end
	r, err := ipc.NewReader(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	next := 0
	for r.Next() {
		rec := r.Record()
		ids, texts, logprobs := rec.Column(0).(*array.Int64), rec.Column(1), rec.Column(2)
		for i := range int(rec.NumRows()) {
			text := texts.ValueStr(i)
			if b, ok := texts.(*array.Binary); ok {
				text = string(b.Value(i))
			}
			want := fmt.Sprintf("You stand in room %d.\n\nThere are doors to the north and\x00south. Your score is %d.", next%97, next%7)
			if ids.Value(i) != int64(next) || text != want || logprobs.IsNull(i) != (next%4 == 0) {
				t.Fatalf("row %d: id %d, text %q", next, ids.Value(i), text)
			}
			next++
		}
	}
	if r.Err() != nil || next != rows {
		t.Errorf("read %d rows, %v", next, r.Err())
	}
}

// A connection that breaks in the middle of the data leaves nothing behind, and the retry lands once.
func TestCutInsert(t *testing.T) {
	conn := clickhousetest.Open(t, clickhousetest.Options(clickhousetest.Start(t)))
	if err := conn.Exec(t.Context(), stepTable); err != nil {
		t.Fatal(err)
	}
	data := stepRows(t, 0, 50_000)
	broken := io.MultiReader(bytes.NewReader(data[:len(data)/2]), failingReader{})
	if err := conn.InsertFormat(oneBlock(t.Context(), "x"), "ArrowStream", "INSERT INTO steps", broken); err == nil {
		t.Fatal("a cut insert succeeded")
	}
	if n := count(t, conn, "SELECT count() FROM steps"); n != 0 {
		t.Errorf("a cut insert left %d rows", n)
	}
	broken = io.MultiReader(strings.NewReader("1,a,b,0,0\n2,a,b,0,0\n"), failingReader{}) // cut between rows
	if err := conn.InsertFormat(oneBlock(t.Context(), "y"), "CSV", "INSERT INTO steps", broken); err == nil {
		t.Fatal("a cut insert succeeded")
	}
	if n := count(t, conn, "SELECT count() FROM steps"); n != 0 {
		t.Errorf("an insert that was cut between rows left %d", n)
	}
	if err := conn.InsertFormat(oneBlock(t.Context(), "x"), "ArrowStream", "INSERT INTO steps", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT count() FROM steps"); n != 50_000 {
		t.Errorf("%d rows after the retry", n)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A short stream that ends cleanly as far as HTTP goes is still an error.
func TestTruncatedArrowStream(t *testing.T) {
	conn := clickhousetest.Open(t, clickhousetest.Options(clickhousetest.Start(t)))
	if err := conn.Exec(t.Context(), stepTable); err != nil {
		t.Fatal(err)
	}
	data := stepRows(t, 0, 1000)
	if err := conn.InsertFormat(t.Context(), "ArrowStream", "INSERT INTO steps", bytes.NewReader(data[:len(data)/2])); err == nil {
		t.Error("half a record batch was accepted")
	}
	if n := count(t, conn, "SELECT count() FROM steps"); n != 0 {
		t.Errorf("half a record batch left %d rows", n)
	}
}

func BenchmarkArrowInsert(b *testing.B) {
	conn := clickhousetest.Open(b, clickhousetest.Options(clickhousetest.Start(b)))
	if err := conn.Exec(b.Context(), stepTable); err != nil {
		b.Fatal(err)
	}
	const rows = 100_000
	data := stepRows(b, 0, rows)
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		n++
		if err := conn.InsertFormat(oneBlock(b.Context(), fmt.Sprint(n)), "ArrowStream", "INSERT INTO steps", bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*n)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkTrivialQuery(b *testing.B) {
	conn := clickhousetest.Open(b, clickhousetest.Options(clickhousetest.Start(b)))
	for b.Loop() {
		var one uint8
		if err := conn.QueryRow(b.Context(), "SELECT 1").Scan(&one); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNativeRead(b *testing.B) {
	conn := clickhousetest.Open(b, clickhousetest.Options(clickhousetest.Start(b)))
	const rows = 5_000_000
	b.SetBytes(rows * 24)
	for b.Loop() {
		stream, err := conn.QueryFormat(b.Context(), "Native", fmt.Sprintf("SELECT number, number * 2, number * 3 FROM numbers(%d)", rows))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, stream); err != nil {
			b.Fatal(err)
		}
		if err := stream.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
