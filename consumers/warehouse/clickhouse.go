package warehouse

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// ClickHouse is the Store of a ClickHouse server, embedded or not. Names are qualified: the connection's database does not
// matter.
type ClickHouse struct {
	conn     olap.Conn
	database string
	pins     *pins
	claims   *claimQueue
}

var _ Store = (*ClickHouse)(nil)

// NewClickHouse makes a store on a connection, which stays the caller's.
func NewClickHouse(conn olap.Conn) *ClickHouse {
	return &ClickHouse{conn: conn, database: tables.Database, pins: &pins{conn: conn}, claims: newClaimQueue()}
}

// Beside is the same store on the tables of another database.
func (c *ClickHouse) Beside(database string) *ClickHouse {
	return &ClickHouse{conn: c.conn, database: database, pins: c.pins, claims: newClaimQueue()}
}

// SealName is the name of the constraint that keeps everybody from claiming partitions while a rebuild puts its tables in the
// place of the warehouse's. It is part of what the server answers to a claim.
const SealName = "a_rebuild_is_being_switched_to"

// insertSettings make one block of an insert: the rows must be cut the same way whenever the insert is repeated, or the
// server does not recognise them.
const insertSettings = "insert_deduplicate = 1, async_insert = 0, max_insert_threads = 1, " +
	"max_insert_block_size = 1000000000, min_insert_block_size_rows = 1000000000, min_insert_block_size_bytes = 1073741824"

// Insert streams the block as Arrow. The bytes are kept until the server has answered, so that a repetition sends the same.
func (c *ClickHouse) Insert(ctx context.Context, t *tables.Table, token string, rec arrow.Record) error {
	var body bytes.Buffer // not used again: a connection may read it for longer than it takes until the answer
	body.Grow(recordBytes(rec))
	w := ipc.NewWriter(&body, ipc.WithSchema(rec.Schema()))
	if err := w.Write(rec); err != nil {
		return fmt.Errorf("write Arrow: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write Arrow: %w", err)
	}
	names := make([]string, 0, rec.NumCols())
	for _, f := range rec.Schema().Fields() {
		names = append(names, f.Name)
	}
	newer, err := c.pins.newer(ctx)
	if err != nil {
		return err
	}
	query := fmt.Sprintf("INSERT INTO %s.%s (%s) SETTINGS insert_deduplication_token = %s, %s%s",
		c.database, t.Name, strings.Join(names, ", "), tables.Quote(token), insertSettings, newer)
	return class(c.conn.InsertFormat(ctx, "ArrowStream", query, &body))
}

// recordBytes is about what a record takes as a stream: its buffers and what surrounds them.
func recordBytes(rec arrow.Record) int {
	n := 64 << 10
	for _, c := range rec.Columns() {
		n += int(dataBytes(c.Data()))
	}
	return n
}

func dataBytes(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len()) + 64 // padded
		}
	}
	for _, c := range d.Children() {
		n += dataBytes(c)
	}
	return n
}

// Plan implements Store.
func (c *ClickHouse) Plan(ctx context.Context, p Place, w Writer, r Range) error {
	return c.exec(ctx, "INSERT INTO %s.%s (sink, topic_id, incarnation, partition, first, last, generation, writer) VALUES (%s, %s, %s, %d, %d, %d, %d, %d)",
		c.database, tables.PlansTable, tables.Quote(w.Group), tables.Quote(p.Topic), tables.Quote(w.Incarnations[p.Topic]), p.Partition, r.First, r.Last, w.Generation, w.Token)
}

// Finish implements Store.
func (c *ClickHouse) Finish(ctx context.Context, p Place, w Writer, next int64) error {
	return c.exec(ctx, "INSERT INTO %s.%s (sink, topic_id, incarnation, partition, next_offset, generation, writer) VALUES (%s, %s, %s, %d, %d, %d, %d)",
		c.database, tables.OffsetsTable, tables.Quote(w.Group), tables.Quote(p.Topic), tables.Quote(w.Incarnations[p.Topic]), p.Partition, next, w.Generation, w.Token)
}

// redactions is how many documents one mutation names.
const redactions = 1000

// Redact implements Store. Each mutation rewrites the parts that hold the documents, so they go together.
func (c *ClickHouse) Redact(ctx context.Context, p Place, withdrawn []Withdrawal) error {
	for chunk := range slices.Chunk(latest(withdrawn), redactions) {
		ids, befores := make([]string, len(chunk)), make([]string, len(chunk))
		for i, w := range chunk {
			ids[i], befores[i] = "'"+w.Document.String()+"'", strconv.FormatInt(w.Before, 10)
		}
		err := c.exec(ctx, "ALTER TABLE %s.%s UPDATE text = '' WHERE document_id IN (%s) AND kafka_topic = %s AND kafka_partition = %d "+
			"AND kafka_offset < transform(toString(document_id), [%s], [%s], 0) AND text != '' SETTINGS mutations_sync = 1",
			c.database, tables.DocumentEvents, strings.Join(ids, ","), tables.Quote(p.Topic), p.Partition,
			strings.Join(ids, ","), strings.Join(befores, ","))
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *ClickHouse) exec(ctx context.Context, format string, args ...any) error {
	return class(c.conn.Exec(ctx, fmt.Sprintf(format, args...)))
}

// Positions implements Store.
func (c *ClickHouse) Positions(ctx context.Context, group string) (bus.Positions, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT toString(topic_id), partition, max(next_offset) FROM %s.%s WHERE sink = %s GROUP BY topic_id, partition",
		c.database, tables.OffsetsTable, tables.Quote(group)))
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := bus.Positions{}
	for rows.Next() {
		var (
			topic     string
			partition int32
			next      int64
		)
		if err := rows.Scan(&topic, &partition, &next); err != nil {
			return nil, class(err)
		}
		if out[topic] == nil {
			out[topic] = map[int32]int64{}
		}
		out[topic][partition] = next
	}
	return out, class(rows.Err())
}

// class sorts a server's error into the package's classes.
func class(err error) error {
	switch {
	case err == nil:
		return nil
	case olap.Code(err) == olap.CodeThrowIf && strings.Contains(err.Error(), tables.FencedMessage):
		return fmt.Errorf("%w: %w", ErrFenced, err)
	case olap.Code(err) == olap.CodeViolatedConstraint && strings.Contains(err.Error(), SealName):
		// A rebuild is about to put its tables in the place of these; it takes moments.
		return fmt.Errorf("%w: %w", ErrTransient, err)
	case olap.Transient(err):
		return fmt.Errorf("%w: %w", ErrTransient, err)
	}
	return err
}
