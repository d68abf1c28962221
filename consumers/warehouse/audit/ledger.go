package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Positions are offsets by topic and partition.
type Positions = map[string]map[int32]int64

// Key is what rows are compared by: a run and an environment, a run alone, or a document, which is in Last with a nil run.
// Rows that belong to none of these have the zero key.
type Key struct{ Run, Last uuid.UUID }

// String is the key as records have it.
func (k Key) String() string {
	switch {
	case k == Key{}:
		return "(none)"
	case k.Run == uuid.Nil:
		return k.Last.String()
	case k.Last == uuid.Nil:
		return k.Run.String()
	}
	return k.Run.String() + "/" + k.Last.String()
}

func (k Key) compare(o Key) int {
	if c := bytes.Compare(k.Run[:], o.Run[:]); c != 0 {
		return c
	}
	return bytes.Compare(k.Last[:], o.Last[:])
}

// Settings is what a Ledger works with.
type Settings struct {
	// Run is the run that counts; uuid.Nil: all, and everything that belongs to no run.
	Run uuid.UUID
	// Embedder is the sink's, or nil.
	Embedder Embedder
	// Withdrawn are the documents whose text must be gone, with the offset of the record that withdrew them.
	Withdrawn map[uuid.UUID]int64
	// Ends is how far the warehouse is compared; rows of later records are counted and not compared. Nil: everything is.
	Ends Positions
}

// Ledger compares a log with a warehouse: what the log makes is added, what the warehouse holds is taken away, and what is
// left is the difference. It keeps about 100 bytes for each key, and no rows. It is not safe for concurrent use.
type Ledger struct {
	Settings
	catalogue *tables.Catalogue
	set       *tables.Set
	balances  map[Key]balance
	counts    map[string]*Count
	later     Positions
}

// balance is the sum of the hashes of the log's rows of a key, less those of the warehouse's.
type balance struct {
	sum            [3]uint64
	log, warehouse int32
}

// Count is how many rows a table has.
type Count struct {
	Table     string `json:"table"`
	Log       int64  `json:"log"`
	Warehouse int64  `json:"warehouse"`
}

// NewLedger makes an empty ledger. Release must be called.
func NewLedger(set Settings) (*Ledger, error) {
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		Settings: set, catalogue: catalogue, set: tables.NewSet(memory.DefaultAllocator, catalogue, 0),
		balances: map[Key]balance{}, counts: map[string]*Count{}, later: Positions{},
	}
	return l, nil
}

// Release frees the ledger's rows.
func (l *Ledger) Release() { l.set.Release() }

// within reports whether a record lies before Ends.
func (l *Ledger) within(topic string, partition int32, offset int64) bool {
	return l.Ends == nil || offset < l.Ends[topic][partition]
}

// Add adds the rows of an event, of which no earlier record of its partition could become rows. An error says that it can
// become none, and that it has changed nothing.
func (l *Ledger) Add(ctx context.Context, ev event.Event, msg proto.Message) error {
	if !l.within(ev.Topic, ev.Partition, ev.LastOffset) {
		return nil
	}
	if err := appendRows(ctx, l.set, l.Settings, ev, msg); err != nil {
		return err
	}
	if l.set.Bytes() < blockBytes {
		return nil
	}
	return l.Flush()
}

// blockBytes is how many bytes of rows are gathered before they are hashed.
const blockBytes = 8 << 20

// appendRows makes the rows of an event as the sink does.
func appendRows(ctx context.Context, set *tables.Set, s Settings, ev event.Event, msg proto.Message) error {
	vector, err := computed(ctx, s.Embedder, msg)
	if err != nil {
		return err
	}
	if m, ok := msg.(*spadepb.DocumentIngested); ok && len(m.GetDocumentId()) == 16 &&
		s.Withdrawn[uuid.UUID(m.GetDocumentId())] > ev.LastOffset && m.GetText() != "" {
		m = proto.Clone(m).(*spadepb.DocumentIngested)
		m.Text, msg = "", m
	}
	if err := set.Append(&ev, msg); err != nil {
		return err
	}
	if vector == nil {
		return nil
	}
	return set.AppendEmbedding(&ev, vector)
}

// Flush hashes what was gathered.
func (l *Ledger) Flush() error {
	var errs error
	for _, b := range l.set.Blocks() {
		if errs == nil {
			errs = l.take(b.Table, b.Record, true)
		}
		b.Record.Release()
	}
	return errs
}

// take adds the rows of a record to the log's side or takes them off.
func (l *Ledger) take(table *tables.Table, rec arrow.Record, log bool) error {
	rows, err := newRows(table, rec)
	if err != nil {
		return err
	}
	count := l.counts[table.Name]
	if count == nil {
		count = &Count{Table: table.Name}
		l.counts[table.Name] = count
	}
	var row []byte
	for i := range int(rec.NumRows()) {
		if topic, partition, offset := rows.place(i); !log && !l.within(topic, partition, offset) {
			l.noteLater(topic, partition, offset)
			continue
		}
		if row, err = rows.encode(row[:0], i); err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
		l.enter(rows.key(i), row, log, count)
	}
	return nil
}

func (l *Ledger) enter(key Key, row []byte, log bool, count *Count) {
	h := sha256.Sum256(row)
	b := l.balances[key]
	for i := range b.sum {
		v := binary.LittleEndian.Uint64(h[8*i:])
		if !log {
			v = -v
		}
		b.sum[i] += v
	}
	if log {
		b.log++
		count.Log++
	} else {
		b.warehouse++
		count.Warehouse++
	}
	l.balances[key] = b
}

// Differing are the keys whose rows are not the same, sorted.
func (l *Ledger) Differing() []Key {
	var out []Key
	for k, b := range l.balances {
		if b.sum != [3]uint64{} || b.log != b.warehouse {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, Key.compare)
	return out
}

// Keys is the number of keys that were met.
func (l *Ledger) Keys() int { return len(l.balances) }

// Rows are a key's rows in the log and in the warehouse.
func (l *Ledger) Rows(k Key) (log, warehouse int64) {
	b := l.balances[k]
	return int64(b.log), int64(b.warehouse)
}

// Later is the last record of each partition that lies behind Ends and of which the warehouse has rows.
func (l *Ledger) Later() Positions { return l.later }

func (l *Ledger) noteLater(topic string, partition int32, offset int64) {
	if l.later[topic] == nil {
		l.later[topic] = map[int32]int64{}
	}
	l.later[topic][partition] = max(l.later[topic][partition], offset)
}

// Counts are the rows by table, in the order of the catalogue.
func (l *Ledger) Counts() []Count {
	out := make([]Count, 0, len(l.counts))
	for _, t := range l.catalogue.Tables {
		if c := l.counts[t.Name]; c != nil && c.Log+c.Warehouse > 0 {
			out = append(out, *c)
		}
	}
	return out
}
