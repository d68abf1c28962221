package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/tables"
)

// rows reads the rows of a record.
type rows struct {
	table                      *tables.Table
	columns                    []arrow.Array
	names                      []string
	run, env, document, entity *array.FixedSizeBinary
	topic, partition, offset   arrow.Array
}

// newRows finds the table's stored columns in a record.
func newRows(table *tables.Table, rec arrow.Record) (*rows, error) {
	r := &rows{table: table}
	ids := map[string]**array.FixedSizeBinary{"run_id": &r.run, "env_id": &r.env, "document_id": &r.document, "entity_id": &r.entity}
	plain := map[string]*arrow.Array{"kafka_topic": &r.topic, "kafka_partition": &r.partition, "kafka_offset": &r.offset}
	for _, name := range table.Stored() {
		at := rec.Schema().FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("%s: %d columns named %s", table.Name, len(at), name)
		}
		c := rec.Column(at[0])
		r.columns, r.names = append(r.columns, c), append(r.names, name)
		if to := ids[name]; to != nil {
			b, ok := c.(*array.FixedSizeBinary)
			if !ok {
				return nil, fmt.Errorf("%s: %s is %s", table.Name, name, c.DataType())
			}
			*to = b
		}
		if to := plain[name]; to != nil {
			*to = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		if *plain[name] == nil {
			return nil, fmt.Errorf("%s has no %s", table.Name, name)
		}
	}
	return r, nil
}

// encode writes a row so that equal rows are equal bytes. The table is part of it.
func (r *rows) encode(b []byte, i int) ([]byte, error) {
	b = appendBytes(b, r.table.Name)
	for _, c := range r.columns {
		var err error
		if b, err = appendCell(b, c, i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// key is the key of a row.
func (r *rows) key(i int) Key {
	k := Key{Run: idAt(r.run, i)}
	switch {
	case r.env != nil:
		k.Last = idAt(r.env, i)
	case r.entity != nil:
		k.Last = idAt(r.entity, i)
	case r.document != nil:
		k.Last = idAt(r.document, i)
	}
	return k
}

func idAt(c *array.FixedSizeBinary, i int) uuid.UUID {
	if c == nil || c.IsNull(i) {
		return uuid.Nil
	}
	id, err := uuid.FromBytes(c.Value(i))
	if err != nil {
		return uuid.Nil
	}
	return id
}

// place is the record that a row came from.
func (r *rows) place(i int) (topic string, partition int32, offset int64) {
	if p, ok := r.partition.(*array.Int32); ok {
		partition = p.Value(i)
	}
	if o, ok := r.offset.(*array.Int64); ok {
		offset = o.Value(i)
	}
	return r.topic.ValueStr(i), partition, offset
}
