package audit

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/tables"
)

// tally adds the rows of a record, whose columns must include the table's stored ones.
func (t Tallies) tally(table *tables.Table, rec arrow.Record) error {
	columns := make([]arrow.Array, 0, len(table.Columns))
	var keys []arrow.Array
	for _, name := range table.Stored() {
		at := rec.Schema().FieldIndices(name)
		if len(at) != 1 {
			return fmt.Errorf("%s: %d columns named %s", table.Name, len(at), name)
		}
		columns = append(columns, rec.Column(at[0]))
		if name == "run_id" || name == "env_id" || name == "document_id" {
			keys = append(keys, rec.Column(at[0]))
		}
	}
	var row []byte
	for i := range int(rec.NumRows()) {
		row = row[:0]
		for _, c := range columns {
			var err error
			if row, err = appendCell(row, c, i); err != nil {
				return fmt.Errorf("%s: %w", table.Name, err)
			}
		}
		t.add(table.Name, keyOf(keys, i), row)
	}
	return nil
}

func keyOf(columns []arrow.Array, i int) string {
	key := ""
	for _, c := range columns {
		b, ok := c.(*array.FixedSizeBinary)
		if !ok || c.IsNull(i) {
			continue
		}
		id, err := uuid.FromBytes(b.Value(i))
		if err != nil {
			continue
		}
		if key != "" {
			key += "/"
		}
		key += id.String()
	}
	return key
}

// appendCell writes a value so that equal values of equal columns are equal bytes, whatever Arrow type carries them.
func appendCell(b []byte, a arrow.Array, i int) ([]byte, error) {
	if a.IsNull(i) {
		return append(b, 0), nil
	}
	b = append(b, 1)
	switch a := a.(type) {
	case *array.String:
		return appendBytes(b, a.Value(i)), nil
	case *array.Binary:
		return appendBytes(b, string(a.Value(i))), nil
	case *array.LargeString:
		return appendBytes(b, a.Value(i)), nil
	case *array.FixedSizeBinary:
		return appendBytes(b, string(a.Value(i))), nil
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case *array.List:
		start, end := a.ValueOffsets(i)
		return appendList(b, a.ListValues(), start, end)
	case *array.Map:
		start, end := a.ValueOffsets(i)
		b, err := appendList(b, a.Keys(), start, end)
		if err != nil {
			return nil, err
		}
		return appendList(b, a.Items(), start, end)
	case *array.Dictionary:
		return appendCell(b, a.Dictionary(), a.GetValueIndex(i))
	}
	return appendNumber(b, a, i)
}

func appendNumber(b []byte, a arrow.Array, i int) ([]byte, error) {
	var v uint64
	switch a := a.(type) {
	case *array.Int32:
		v = uint64(a.Value(i))
	case *array.Int64:
		v = uint64(a.Value(i))
	case *array.Uint64:
		v = a.Value(i)
	case *array.Float64:
		v = math.Float64bits(a.Value(i))
	case *array.Float32:
		v = uint64(math.Float32bits(a.Value(i)))
	case *array.Timestamp:
		v = uint64(a.Value(i))
	default:
		return nil, fmt.Errorf("no way to compare %s", a.DataType())
	}
	return binary.LittleEndian.AppendUint64(b, v), nil
}

func appendBytes(b []byte, v string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}

func appendList(b []byte, values arrow.Array, start, end int64) ([]byte, error) {
	b = binary.LittleEndian.AppendUint64(b, uint64(end-start))
	var err error
	for j := start; j < end; j++ {
		if b, err = appendCell(b, values, int(j)); err != nil {
			return nil, err
		}
	}
	return b, nil
}
