package audit

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

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
