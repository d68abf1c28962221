package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Kinds of row differences.
const (
	Missing = "missing row" // the log makes it, the warehouse lacks it
	Doubled = "doubled row" // the warehouse has it more often than the log makes it
	Phantom = "phantom row" // nothing in the log makes it
	Changed = "changed row" // one of the same event and place in its table has another value
)

// RowDifference is one row that is not the same.
type RowDifference struct {
	Key       Key
	Table     string
	Kind      string
	EventID   uuid.UUID
	Topic     string
	Partition int32
	Offset    int64
	// Of a changed row: the first column that differs, and both values.
	Column, Log, Warehouse string
	// Columns is how many columns of a changed row differ.
	Columns int
	// HeldAt is the offset that the warehouse's row of a changed one names.
	HeldAt int64
}

// String names the difference.
func (d RowDifference) String() string {
	at := fmt.Sprintf("%s of %s (event %s, %s/%d at %d)", d.Table, d.Key, d.EventID, d.Topic, d.Partition, d.Offset)
	if d.Kind == Changed {
		return fmt.Sprintf("%s: %s is %s in the warehouse, %s in the log", at, d.Column, d.Warehouse, d.Log)
	}
	return at
}

// Detail compares the rows of a few keys one by one.
type Detail struct {
	Settings
	keys      map[Key]bool
	catalogue *tables.Catalogue
	set       *tables.Set
	log       map[Key][]row
}

// row is one row with what tells it from others.
type row struct {
	table     *tables.Table
	encoded   []byte
	identity  []byte // event id and the columns that the table is sorted by
	event     uuid.UUID
	topic     string
	partition int32
	offset    int64
	cells     []string
}

// NewDetail makes an empty comparison of keys. Release must be called.
func NewDetail(set Settings, keys []Key) (*Detail, error) {
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	d := &Detail{
		Settings: set, catalogue: catalogue, set: tables.NewSet(memory.DefaultAllocator, catalogue, 0),
		keys: map[Key]bool{}, log: map[Key][]row{},
	}
	for _, k := range keys {
		d.keys[k] = true
	}
	return d, nil
}

// Release frees the comparison's rows.
func (d *Detail) Release() { d.set.Release() }

// Wants reports whether a record of that key can make rows of the keys: those of a run's record may be about its
// environments.
func (d *Detail) Wants(key []byte) bool {
	run, last, err := tables.KeyIDs(string(key))
	if err != nil {
		return d.keys[Key{}]
	}
	if d.keys[Key{run, last}] || d.keys[Key{last, uuid.Nil}] {
		return true
	}
	for k := range d.keys {
		if run == uuid.Nil && k.Run == last {
			return true
		}
	}
	return false
}

// Add adds the rows of an event.
func (d *Detail) Add(ctx context.Context, ev event.Event, msg proto.Message) error {
	if d.Ends != nil && ev.LastOffset >= d.Ends[ev.Topic][ev.Partition] {
		return nil
	}
	if err := appendRows(ctx, d.set, d.Settings, ev, msg); err != nil {
		return err
	}
	for _, b := range d.set.Blocks() {
		found, err := d.rows(b.Table, b.Record)
		b.Record.Release()
		if err != nil {
			return err
		}
		for k, list := range found {
			d.log[k] = append(d.log[k], list...)
		}
	}
	return nil
}

// rows takes the rows of the keys out of a record.
func (d *Detail) rows(table *tables.Table, rec arrow.Record) (map[Key][]row, error) {
	r, err := newRows(table, rec)
	if err != nil {
		return nil, err
	}
	out := map[Key][]row{}
	for i := range int(rec.NumRows()) {
		key := r.key(i)
		topic, partition, offset := r.place(i)
		if !d.keys[key] || (d.Ends != nil && offset >= d.Ends[topic][partition]) {
			continue
		}
		one := row{table: table, topic: topic, partition: partition, offset: offset}
		if one.encoded, err = r.encode(nil, i); err != nil {
			return nil, err
		}
		for j, name := range r.names {
			if name == "event_id" {
				one.event = uuid.UUID(r.columns[j].(*array.FixedSizeBinary).Value(i))
			}
			if name == "event_id" || (name != "kafka_offset" && slices.Contains(table.OrderBy, name)) {
				if one.identity, err = appendCell(one.identity, r.columns[j], i); err != nil {
					return nil, err
				}
			}
			one.cells = append(one.cells, cell(r.columns[j], i))
		}
		out[key] = append(out[key], one)
	}
	return out, nil
}

// cell writes a value for people.
func cell(a arrow.Array, i int) string {
	if b, ok := a.(*array.FixedSizeBinary); ok && !b.IsNull(i) {
		if id, err := uuid.FromBytes(b.Value(i)); err == nil {
			return id.String()
		}
	}
	return a.ValueStr(i)
}

// Compare reads the warehouse's rows of the keys and names what differs, by key, then table.
func (d *Detail) Compare(ctx context.Context, conn olap.Conn, keys []Key) ([]RowDifference, error) {
	var out []RowDifference
	for _, k := range keys {
		for _, t := range d.catalogue.Tables {
			where, ok := whereKey(t, k)
			if !ok {
				continue
			}
			var held []row
			err := records(ctx, conn, t, where, func(rec arrow.Record) error {
				found, err := d.rows(t, rec)
				held = append(held, found[k]...)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", t.Name, k, err)
			}
			out = append(out, compareRows(k, ofTable(d.log[k], t), held)...)
		}
	}
	return out, nil
}

// whereKey is the condition of a key's rows; ok is false when the table cannot have any.
func whereKey(t *tables.Table, k Key) (where string, ok bool) {
	if t.Bookkeeping {
		return "", false
	}
	last := ""
	for _, name := range []string{"document_id", "entity_id", "env_id"} {
		if slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Name == name }) {
			last = name
		}
	}
	var parts []string
	switch {
	case k.Run != uuid.Nil && !hasRun(t), k.Last != uuid.Nil && last == "", k.Last == uuid.Nil && last != "":
		return "", false
	case k.Run == uuid.Nil && hasRun(t) && t.Name != tables.Embeddings:
		return "", false
	}
	if k.Run != uuid.Nil {
		parts = append(parts, "run_id = '"+k.Run.String()+"'")
	}
	if k.Last != uuid.Nil {
		if last == "document_id" || k.Run != uuid.Nil || t.Name == tables.Embeddings {
			parts = append(parts, last+" = '"+k.Last.String()+"'")
		}
	}
	return strings.Join(parts, " AND "), true
}

func ofTable(list []row, t *tables.Table) []row {
	var out []row
	for _, r := range list {
		if r.table.Name == t.Name {
			out = append(out, r)
		}
	}
	return out
}
