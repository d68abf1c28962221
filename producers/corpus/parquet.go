package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	pqfile "github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// parquetBatch is how many rows are decoded at a time.
const parquetBatch = 256

// errSink marks an error of the sink, which must not be taken for a fault of the file.
var errSink = errors.New("pass document on")

// readParquet reads the column "text", and "title", "id", "source" or "url" where they are, one row group after the
// other.
func readParquet(ctx context.Context, cfg Config, in input, out sink) error {
	err := parquetRows(ctx, cfg, in, out)
	var p *Problem
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errSink):
		return err
	case errors.As(err, &p):
		out.problem(p)
	default:
		out.problem(&Problem{Path: in.source, Class: ErrMalformed, Cause: err})
	}
	return nil
}

// parquetRows does the work of readParquet. The decoder panics on some damaged files; that becomes an error.
func parquetRows(ctx context.Context, cfg Config, in input, out sink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decode parquet: %v", r)
		}
	}()
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled = true // otherwise a column of a whole row group is read at once
	rd, err := pqfile.NewParquetReader(in.file, pqfile.WithReadProps(props))
	if err != nil {
		return fmt.Errorf("open parquet: %w", err)
	}
	defer rd.Close() //nolint:errcheck // it closes nothing but the file, which the caller does again
	if rd.NumRows() == 0 {
		return &Problem{Path: in.source, Class: ErrEmpty}
	}
	columns, err := parquetColumns(rd)
	if err != nil {
		return &Problem{Path: in.source, Class: ErrMalformed, Cause: err}
	}
	fr, err := pqarrow.NewFileReader(rd, pqarrow.ArrowReadProperties{BatchSize: parquetBatch}, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("read parquet schema: %w", err)
	}
	if err := parquetCodecs(rd, columns); err != nil {
		return &Problem{Path: in.source, Class: ErrUnsupported, Cause: err}
	}
	rows := parquetReader{cfg: cfg, in: in, out: out}
	for group := range rd.NumRowGroups() {
		if err := rows.group(ctx, fr, columns, group); err != nil {
			return err
		}
	}
	return nil
}

// parquetColumns finds the leaf columns to read.
func parquetColumns(rd *pqfile.Reader) ([]int, error) {
	schema := rd.MetaData().Schema
	text := schema.ColumnIndexByName("text")
	if text < 0 {
		return nil, errors.New(`no column "text"`)
	}
	columns := []int{text}
	for _, name := range []string{"title", "id", "source", "url"} {
		if i := schema.ColumnIndexByName(name); i >= 0 {
			columns = append(columns, i)
		}
	}
	return columns, nil
}

// parquetCodecs makes sure that every column can be decompressed.
func parquetCodecs(rd *pqfile.Reader, columns []int) error {
	for group := range rd.NumRowGroups() {
		meta := rd.MetaData().RowGroup(group)
		for _, column := range columns {
			chunk, err := meta.ColumnChunk(column)
			if err != nil {
				return fmt.Errorf("column %d of row group %d: %w", column, group, err)
			}
			if _, err := compress.GetCodec(chunk.Compression()); err != nil {
				return fmt.Errorf("compressed with %s; snappy, gzip, brotli and zstd can be read", chunk.Compression())
			}
		}
	}
	return nil
}

// parquetReader passes rows on; row counts those of the file.
type parquetReader struct {
	cfg Config
	in  input
	out sink
	row int64
}

// group reads one row group.
func (r *parquetReader) group(ctx context.Context, fr *pqarrow.FileReader, columns []int, group int) error {
	rr, err := fr.GetRecordReader(ctx, columns, []int{group})
	if err != nil {
		return fmt.Errorf("read row group %d: %w", group, err)
	}
	defer rr.Release()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := rr.Read()
		if errors.Is(err, io.EOF) || err == nil && rec == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read row group %d: %w", group, err)
		}
		if err := r.batch(rec); err != nil {
			return err
		}
	}
}

// batch passes the rows of one record batch on. The batch belongs to its reader.
func (r *parquetReader) batch(rec arrow.Record) error {
	text, err := stringColumn(rec, "text")
	if err != nil {
		return err
	}
	labels := map[string]func(int) string{}
	for _, name := range []string{"title", "id", "source", "url"} {
		labels[name] = labelColumn(rec, name)
	}
	for i := range int(rec.NumRows()) {
		r.row++
		if err := r.one(record{
			text: text(i), title: labels["title"](i), id: labels["id"](i), source: firstOf(labels["source"](i), labels["url"](i)),
		}); err != nil {
			return err
		}
	}
	return nil
}

// one passes one row on.
func (r *parquetReader) one(rec record) error {
	fault := func(class, cause error) error {
		r.out.problem(&Problem{Path: r.in.source, Row: r.row, Class: class, Cause: cause})
		return nil
	}
	if len(rec.text) > r.cfg.MaxRecordBytes {
		return fault(ErrTooLarge, fmt.Errorf("%d bytes, allowed are %d", len(rec.text), r.cfg.MaxRecordBytes))
	}
	if !utf8.ValidString(rec.text) {
		return fault(ErrEncoding, nil)
	}
	doc, ok := rec.document(r.in.source, strconv.FormatInt(r.row, 10), mediaParquet)
	if !ok {
		return fault(ErrEmpty, nil)
	}
	if err := r.out.doc(doc); err != nil {
		return fmt.Errorf("%w: %w", errSink, err)
	}
	return nil
}

// stringColumn gives the text of a row, which is a copy, or "" where it is null.
func stringColumn(rec arrow.Record, name string) (func(int) string, error) {
	i := rec.Schema().FieldIndices(name)
	if len(i) == 0 {
		return nil, fmt.Errorf("no column %q", name)
	}
	switch col := rec.Column(i[0]).(type) {
	case array.StringLike:
		return func(row int) string { return cloneUnlessNull(col, row, col.Value) }, nil
	case *array.Dictionary:
		values, ok := col.Dictionary().(array.StringLike)
		if !ok {
			break
		}
		at := func(row int) string { return values.Value(col.GetValueIndex(row)) }
		return func(row int) string { return cloneUnlessNull(col, row, at) }, nil
	}
	return nil, fmt.Errorf("column %q holds %s, not text", name, rec.Column(i[0]).DataType())
}

// labelColumn gives an optional label: a text or, of any other type but lists and structs, its text form.
func labelColumn(rec arrow.Record, name string) func(int) string {
	if values, err := stringColumn(rec, name); err == nil {
		return func(row int) string {
			if s := values(row); utf8.ValidString(s) {
				return s
			}
			return ""
		}
	}
	if i := rec.Schema().FieldIndices(name); len(i) > 0 && arrow.IsPrimitive(rec.Column(i[0]).DataType().ID()) {
		col := rec.Column(i[0])
		return func(row int) string { return cloneUnlessNull(col, row, col.ValueStr) }
	}
	return func(int) string { return "" }
}

// cloneUnlessNull copies a value, since a batch's memory is used again for the next one.
func cloneUnlessNull(col arrow.Array, row int, value func(int) string) string {
	if col.IsNull(row) {
		return ""
	}
	return string([]byte(value(row)))
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
