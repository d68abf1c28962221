package tables

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// Database is the name of the warehouse's database.
const Database = "spade"

// SchemaVersion is the version of these definitions. It changes with every change of a definition that a query or the
// sink could notice; a warehouse of an older version is brought up to it, one of a newer version is refused.
const SchemaVersion = 3

// Table is one physical table.
type Table struct {
	Name    string
	Comment string
	Columns []Column
	OrderBy []string

	// Bookkeeping tables belong to the sink; no event becomes a row of them.
	Bookkeeping bool

	Engine string // empty: MergeTree
	schema *arrow.Schema
}

// View is one name that users query and that is computed from tables.
type View struct {
	Name    string
	Comment string
	Columns []Column
	Select  string
}

// Schema is the Arrow schema of the rows that the sink inserts: every column but those the server fills in.
func (t *Table) Schema() *arrow.Schema { return t.schema }

// Inserted lists the names of the columns of Schema, in order.
func (t *Table) Inserted() []string {
	names := make([]string, 0, len(t.Columns))
	for _, c := range t.Columns {
		if !c.served() {
			names = append(names, c.Name)
		}
	}
	return names
}

// Stored lists the names of the columns that are a function of the log: what an audit compares.
func (t *Table) Stored() []string {
	names := make([]string, 0, len(t.Columns))
	for _, c := range t.Columns {
		if c.Default == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// finish adds the ingestion columns and derives the schema.
func (t *Table) finish() error {
	if !t.Bookkeeping {
		t.Columns = append(t.Columns, origin()...)
		t.Columns = append(t.Columns, received()...)
	}
	fields := make([]arrow.Field, 0, len(t.Columns))
	for _, c := range t.Columns {
		if c.served() {
			continue
		}
		typ, err := arrowType(c.Type)
		if err != nil {
			return fmt.Errorf("column %s.%s: %w", t.Name, c.Name, err)
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: typ, Nullable: c.Nullable()})
	}
	t.schema = arrow.NewSchema(fields, nil)
	return nil
}

// OffsetColumn is the column that says which record of its partition a row came from.
const OffsetColumn = "kafka_offset"

// origin is the columns that say which record of the log a row came from.
func origin() []Column {
	return []Column{
		col("event_id", typUUID, "event that the row came from"),
		col("kafka_topic", typLow, "topic of the event's record"),
		col("kafka_partition", typInt32, "partition of the event's record"),
		col(OffsetColumn, typInt64, "offset of the event's record; of its last one when it has several"),
		col("event_time", typTime, "when the event was made"),
	}
}

// received is the columns of the insert itself. The writer is compared with the claim on the partition while the server
// fills in ingested_at, so that an insert of a writer that has been superseded fails whenever it arrives (ADR on the
// warehouse's exactly-once inserts).
func received() []Column {
	return []Column{
		{
			Name: "writer", Type: typUInt64, Default: "EPHEMERAL 0",
			Comment: "token of the sink that inserts; checked against the claim on the partition and not stored",
		},
		{
			Name: "ingested_at", Type: typTime,
			Default: fenced("kafka_topic", "kafka_partition"),
			Comment: "when the row was inserted",
		},
	}
}

// fenced is the DEFAULT of a time that the server fills in only when the row's writer holds the claim on the partition that
// two of its columns name; otherwise the insert fails.
func fenced(topic, partition string) string {
	claim := "joinGet('" + Database + "." + ClaimsTable + "', 'writer', concat(" + topic + ", ':', toString(" + partition + ")))"
	return "DEFAULT if(throwIf(writer != " + claim + ", '" + FencedMessage + "') = 0, now64(6), now64(6))"
}

// ClaimOf is the name that _claims has for a partition.
func ClaimOf(topic string, partition int32) string {
	return topic + ":" + strconv.FormatInt(int64(partition), 10)
}

// FencedMessage is what the server answers to an insert of a writer that does not hold the claim on its partition.
const FencedMessage = "another writer holds this partition"
