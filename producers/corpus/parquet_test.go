package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// parquetFile writes a table of the given columns.
func parquetFile(t testing.TB, rowGroup int64, codec compress.Compression, fields []arrow.Field, columns ...arrow.Array) []byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	rec := array.NewRecord(schema, columns, int64(columns[0].Len()))
	defer rec.Release()
	table := array.NewTableFromRecords(schema, []arrow.Record{rec})
	defer table.Release()
	var buf bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(codec))
	if err := pqarrow.WriteTable(table, &buf, rowGroup, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// textColumn builds a column; a text of "\x00null" is null.
func textColumn(b interface {
	array.Builder
	Append(string)
}, texts ...string,
) arrow.Array {
	for _, s := range texts {
		if s == "\x00null" {
			b.AppendNull()
		} else {
			b.Append(s)
		}
	}
	return b.NewArray()
}

func readParquetBytes(ctx context.Context, cfg Config, data []byte) (docs []document, problems []string, err error) {
	in := input{source: "f.parquet", size: int64(len(data)), file: bytes.NewReader(data)}
	err = readParquet(ctx, cfg, in, sink{
		doc:     func(d document) error { docs = append(docs, d); return nil },
		problem: func(p *Problem) { problems = append(problems, p.Error()) },
	})
	return docs, problems, err
}

func TestReadParquet(t *testing.T) {
	mem := memory.DefaultAllocator
	str := arrow.BinaryTypes.String
	ids := array.NewInt64Builder(mem)
	ids.AppendValues([]int64{7, 8}, []bool{true, false})
	dict := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: str}).(*array.BinaryDictionaryBuilder)
	for _, s := range []string{"same", "other", "same"} {
		if err := dict.AppendString(s); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name     string
		data     []byte
		docs     []document
		problems []string
	}{
		{
			"text alone", parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: str}}, textColumn(array.NewStringBuilder(mem), "One é.", "Two.")),
			[]document{{"f.parquet#1", "One é.", "One é.", mediaParquet}, {"f.parquet#2", "Two.", "Two.", mediaParquet}},
			nil,
		},
		{
			"labels among other columns", parquetFile(t, 1, compress.Codecs.Zstd,
				[]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "text", Type: str}, {Name: "url", Type: str}, {Name: "title", Type: str}},
				ids.NewArray(), textColumn(array.NewStringBuilder(mem), "A", "B"), textColumn(array.NewStringBuilder(mem), "http://u:p@h/a", ""),
				textColumn(array.NewStringBuilder(mem), "Title A", "")),
			[]document{{"http://h/a#7", "Title A", "A", mediaParquet}, {"f.parquet#2", "B", "B", mediaParquet}},
			nil,
		},
		{
			"large strings with faults", parquetFile(t, 2, compress.Codecs.Gzip, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.LargeString, Nullable: true}},
				textColumn(array.NewLargeStringBuilder(mem), "\x00null", "ok", " \n", "bad \xff", strings.Repeat("x", 101))),
			[]document{{"f.parquet#2", "ok", "ok", mediaParquet}},
			[]string{
				"f.parquet row 1: holds no text", "f.parquet row 3: holds no text", "f.parquet row 4: not valid UTF-8",
				"f.parquet row 5: too large: 101 bytes, allowed are 100",
			},
		},
		{
			"dictionary", parquetFile(t, 100, compress.Codecs.Uncompressed, []arrow.Field{{Name: "text", Type: dict.Type()}}, dict.NewArray()),
			[]document{{"f.parquet#1", "same", "same", mediaParquet}, {"f.parquet#2", "other", "other", mediaParquet}, {"f.parquet#3", "same", "same", mediaParquet}},
			nil,
		},
		{
			"no text column", parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "body", Type: str}}, textColumn(array.NewStringBuilder(mem), "x")),
			nil,
			[]string{`f.parquet: malformed: no column "text"`},
		},
		{
			"text of numbers", parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: arrow.PrimitiveTypes.Int64}}, numbers(mem, 3)),
			nil,
			[]string{`f.parquet: malformed: column "text" holds int64, not text`},
		},
		{
			"no rows", parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: str}}, textColumn(array.NewStringBuilder(mem))),
			nil,
			[]string{"f.parquet: holds no text"},
		},
	}
	cfg := NewDefaultConfig()
	cfg.MaxRecordBytes = 100
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, problems, err := readParquetBytes(t.Context(), cfg, tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(docs, tt.docs) {
				t.Errorf("documents %q, want %q", docs, tt.docs)
			}
			if !slices.Equal(problems, tt.problems) {
				t.Errorf("problems %q, want %q", problems, tt.problems)
			}
		})
	}
}

func numbers(mem memory.Allocator, n int) arrow.Array {
	b := array.NewInt64Builder(mem)
	for i := range n {
		b.Append(int64(i))
	}
	return b.NewArray()
}

func TestReadParquetManyRows(t *testing.T) {
	var texts []string
	for i := range 3000 {
		texts = append(texts, fmt.Sprintf("Row %d says %s.", i, strings.Repeat("word ", i%50)))
	}
	data := parquetFile(t, 700, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, textColumn(array.NewStringBuilder(memory.DefaultAllocator), texts...))
	docs, problems, err := readParquetBytes(t.Context(), NewDefaultConfig(), data)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if len(docs) != len(texts) {
		t.Fatalf("%d documents, want %d", len(docs), len(texts))
	}
	for i, d := range docs {
		if d.text != texts[i] || d.source != fmt.Sprintf("f.parquet#%d", i+1) {
			t.Fatalf("row %d is %q of %q", i, d.text, d.source)
		}
	}
}

func TestReadParquetDamaged(t *testing.T) {
	data := parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}},
		textColumn(array.NewStringBuilder(memory.DefaultAllocator), "One.", "Two.", "Three."))
	for cut := range data {
		docs, problems, err := readParquetBytes(t.Context(), NewDefaultConfig(), data[:cut])
		if err != nil || len(docs) > 0 || len(problems) != 1 {
			t.Fatalf("cut at %d: documents %q, problems %q, error %v", cut, docs, problems, err)
		}
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x55
		if _, _, err := readParquetBytes(t.Context(), NewDefaultConfig(), bad); err != nil {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

// Arrow writes no LZ4_RAW, so the codec's number is changed where the file states it.
func TestReadParquetCodec(t *testing.T) {
	data := parquetFile(t, 100, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}},
		textColumn(array.NewStringBuilder(memory.DefaultAllocator), "One."))
	want := "f.parquet: format not supported: compressed with LZ4_RAW; snappy, gzip, brotli and zstd can be read"
	for i := range data {
		const snappy, lz4Raw = 1 << 1, 7 << 1 // as Thrift's zigzag integers
		if data[i] != snappy {
			continue
		}
		changed := slices.Clone(data)
		changed[i] = lz4Raw
		if _, problems, err := readParquetBytes(t.Context(), NewDefaultConfig(), changed); err == nil && slices.Equal(problems, []string{want}) {
			return
		}
	}
	t.Error("no file was refused for its codec")
}

func TestReadParquetStops(t *testing.T) {
	data := parquetFile(t, 1, compress.Codecs.Snappy, []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}},
		textColumn(array.NewStringBuilder(memory.DefaultAllocator), "One.", "Two."))
	want := errors.New("log is gone")
	in := input{source: "f.parquet", size: int64(len(data)), file: bytes.NewReader(data)}
	err := readParquet(t.Context(), NewDefaultConfig(), in, sink{
		doc:     func(document) error { return want },
		problem: func(p *Problem) { t.Errorf("problem %v", p) },
	})
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, problems, err := readParquetBytes(ctx, NewDefaultConfig(), data); !errors.Is(err, context.Canceled) || len(problems) > 0 {
		t.Errorf("error %v, problems %q", err, problems)
	}
}
