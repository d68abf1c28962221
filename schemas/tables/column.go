package tables

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// ClickHouse types that columns have. Each stands for exactly one Arrow type; see arrowType.
const (
	typUUID       = "UUID"
	typUUIDNull   = "Nullable(UUID)"
	typUUIDs      = "Array(UUID)"
	typString     = "String"
	typLow        = "LowCardinality(String)"
	typStrings    = "Array(String)"
	typBool       = "Bool"
	typInt32      = "Int32"
	typInt32Null  = "Nullable(Int32)"
	typInt64      = "Int64"
	typInt64Null  = "Nullable(Int64)"
	typUInt64     = "UInt64"
	typUInt64Null = "Nullable(UInt64)"
	typFloat      = "Float64"
	typFloatNull  = "Nullable(Float64)"
	typFloats     = "Array(Float64)"
	typVector     = "Array(Float32)"
	typMap        = "Map(LowCardinality(String), Float64)"
	typTime       = "DateTime64(6, 'UTC')"
	typTimeNull   = "Nullable(DateTime64(6, 'UTC'))"
	nullablePrefx = "Nullable("
)

// Column is one column of a table or view.
type Column struct {
	Name    string
	Type    string // ClickHouse
	Unit    string // of the value; empty when it has none
	Comment string

	// Default is the clause after the type, such as "EPHEMERAL 0" or "DEFAULT now64(6)". A column with a DEFAULT is
	// filled in by the server and is not part of the Arrow schema.
	Default string

	// Since is the version of the definitions that brought the column; 0 for the first. What an older version put in reads
	// as the type's default: the events of that time say nothing else.
	Since int
}

// Nullable reports whether the column can be NULL.
func (c Column) Nullable() bool { return strings.HasPrefix(c.Type, nullablePrefx) }

// served reports whether the server fills the column in.
func (c Column) served() bool { return strings.HasPrefix(c.Default, "DEFAULT") }

// comment is the text of the column's COMMENT.
func (c Column) comment() string {
	if c.Unit == "" {
		return c.Comment
	}
	return c.Comment + " [" + c.Unit + "]"
}

// arrowType is the Arrow type whose values ClickHouse reads into a column of the type. A UUID is its 16 bytes in the order
// in which it is written.
func arrowType(clickhouse string) (arrow.DataType, error) {
	id := &arrow.FixedSizeBinaryType{ByteWidth: 16}
	switch clickhouse {
	case typUUID, typUUIDNull:
		return id, nil
	case typUUIDs:
		return arrow.ListOfNonNullable(id), nil
	case typString, typLow:
		return arrow.BinaryTypes.String, nil
	case typStrings:
		return arrow.ListOfNonNullable(arrow.BinaryTypes.String), nil
	case typBool:
		return arrow.FixedWidthTypes.Boolean, nil
	case typInt32, typInt32Null:
		return arrow.PrimitiveTypes.Int32, nil
	case typInt64, typInt64Null:
		return arrow.PrimitiveTypes.Int64, nil
	case typUInt64, typUInt64Null:
		return arrow.PrimitiveTypes.Uint64, nil
	case typFloat, typFloatNull:
		return arrow.PrimitiveTypes.Float64, nil
	case typFloats:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float64), nil
	case typVector:
		return arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32), nil
	case typMap:
		return arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64), nil
	case typTime, typTimeNull:
		return arrow.FixedWidthTypes.Timestamp_us, nil
	}
	return nil, fmt.Errorf("no Arrow type for ClickHouse type %s", clickhouse)
}

// col is a column without a unit.
func col(name, typ, comment string) Column {
	return Column{Name: name, Type: typ, Comment: comment}
}

// since is a column that a later version of the definitions brought.
func since(version int, c Column) Column {
	c.Since = version
	return c
}

// in is a column whose values have a unit.
func in(unit, name, typ, comment string) Column {
	return Column{Name: name, Type: typ, Unit: unit, Comment: comment}
}
