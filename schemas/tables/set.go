package tables

import (
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// MaxBlockBytes is the size at which a block must be cut. One event may exceed it: an event is never cut.
const MaxBlockBytes = 64 << 20

// ErrInvalid says that an event cannot become rows: an id is not one, or a time lies outside what the warehouse can hold.
var ErrInvalid = errors.New("event is not valid")

// Block is the rows of one table that are inserted together.
type Block struct {
	Table  *Table
	Record arrow.Record
}

// Set collects the rows of events in one Arrow builder per table. It is not safe for concurrent use. Release must be
// called once.
type Set struct {
	catalogue *Catalogue
	mem       memory.Allocator
	writer    uint64
	stamp     arrow.Timestamp // of a stamped set; 0: the rows carry the writer
	builders  map[string]*builder
	event     int // how many events were appended, this one included

	// Of the episode that is appended now.
	episode event.Episode
	views   []event.StepView
}

// NewSet makes an empty set whose rows carry the writer's token.
func NewSet(mem memory.Allocator, c *Catalogue, writer uint64) *Set {
	return &Set{catalogue: c, mem: mem, writer: writer, builders: map[string]*builder{}}
}

// NewStampedSet makes an empty set whose rows carry the time at which they are inserted, so that the server neither fills it in
// nor asks for a claim. It is for tables that nobody else writes.
func NewStampedSet(mem memory.Allocator, c *Catalogue, at time.Time) *Set {
	s := NewSet(mem, c, 0)
	s.stamp = arrow.Timestamp(at.UnixMicro())
	return s
}

// Append adds the rows of an event, whose payload is msg. Either all of them are added or, with ErrInvalid or
// event.ErrUnknownType, none.
func (s *Set) Append(ev *event.Event, msg proto.Message) error {
	return s.begin(ev, msg, func() error { return s.convert(ev, msg) })
}

// AppendEncoded decodes the payload of an event and adds its rows. Of an episode the message that is returned has no steps: they
// went into their columns without becoming messages. Errors are those of event.Unmarshal and Append.
func (s *Set) AppendEncoded(ev *event.Event) (proto.Message, error) {
	if ev.Type == rolloutType {
		return s.encodedRollout(ev)
	}
	msg, err := ev.Message()
	if err != nil {
		return nil, err
	}
	return msg, s.Append(ev, msg)
}

var rolloutType = event.TypeOf(&spadepb.RolloutCompleted{})

// begin adds the rows of an event by convert, unless the event itself is refused.
func (s *Set) begin(ev *event.Event, msg proto.Message, convert func() error) error {
	if err := checkTimes(ev); err != nil {
		return fmt.Errorf("%s %s: %w", ev.Type, ev.ID, err)
	}
	if err := checkKey(ev, msg); err != nil {
		return fmt.Errorf("%s %s: %w", ev.Type, ev.ID, err)
	}
	s.event++
	if err := convert(); err != nil {
		return fmt.Errorf("%s %s: %w", ev.Type, ev.ID, err)
	}
	return nil
}

// PanicError says that the conversion of an event panicked.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("conversion panicked: %v", e.Value) }

// AppendSafely is AppendEncoded for which a conversion that panics is an error like another, a *PanicError: the rows that the event
// left behind are cut away. A table may then have more than one block.
func (s *Set) AppendSafely(ev *event.Event) (msg proto.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{r}
			for _, b := range s.builders {
				b.undo(s.event)
			}
		}
	}()
	return s.AppendEncoded(ev)
}

// AppendEmbedding adds the vector of a document or design that the built-in embedder computed; ev is its event.
func (s *Set) AppendEmbedding(ev *event.Event, v *spadepb.EmbeddingComputed) error {
	if err := s.embeddingComputed(ev, v); err != nil {
		return fmt.Errorf("embedding of %s: %w", ev.ID, err)
	}
	return nil
}

// TotalBytes is about the size of all rows.
func (s *Set) TotalBytes() int {
	n := 0
	for _, b := range s.builders {
		n += b.bytes
	}
	return n
}

// Bytes is about the size of the largest table's rows.
func (s *Set) Bytes() int {
	most := 0
	for _, b := range s.builders {
		most = max(most, b.bytes)
	}
	return most
}

// Blocks hands out what has been collected, one block per table that has rows, in the order of the catalogue, and leaves the
// set empty. The caller releases the records.
func (s *Set) Blocks() []Block {
	var blocks []Block
	for _, t := range s.catalogue.Tables {
		b := s.builders[t.Name]
		if b == nil {
			continue
		}
		for _, rec := range b.take() {
			blocks = append(blocks, Block{Table: t, Record: rec})
		}
	}
	return blocks
}

// Release frees the builders. Rows that were not handed out are lost.
func (s *Set) Release() {
	for _, b := range s.builders {
		b.release()
	}
	clear(s.builders)
}

// table is the builder of a table of the catalogue.
func (s *Set) table(name string) *builder {
	b := s.builders[name]
	if b == nil {
		t := s.catalogue.byName[name]
		schema := t.Schema()
		if s.stamp != 0 {
			schema = t.Stamped()
		}
		b = newBuilder(s.mem, t, schema)
		b.stamp = s.stamp
		s.builders[name] = b
	}
	if b.event != s.event {
		b.event, b.start, b.startBytes = s.event, b.rows, b.bytes
	}
	return b
}

// checkIDs refuses ids that are not 16 bytes.
func checkIDs(ids ...[]byte) error {
	for _, id := range ids {
		if len(id) != 16 {
			return fmt.Errorf("an id has %d bytes: %w", len(id), ErrInvalid)
		}
	}
	return nil
}

// checkOptional refuses ids that are neither missing nor 16 bytes.
func checkOptional(ids ...[]byte) error {
	for _, id := range ids {
		if len(id) != 0 && len(id) != 16 {
			return fmt.Errorf("an id has %d bytes: %w", len(id), ErrInvalid)
		}
	}
	return nil
}

// checkTimes refuses times outside DateTime64(6).
func checkTimes(ev *event.Event) error {
	if err := checkTime(ev.Time); err != nil || ev.Observed == nil {
		return err
	}
	if err := checkTime(ev.Observed.GetStartedAt().AsTime()); err != nil {
		return err
	}
	return checkTime(ev.Observed.GetFinishedAt().AsTime())
}

// The second that 1900 begins with and the one that 2300 begins with, since 1970.
const (
	firstTime = -2_208_988_800
	endOfTime = 10_413_792_000
)

func checkTime(t time.Time) error {
	if s := t.Unix(); s < firstTime || s >= endOfTime {
		return fmt.Errorf("time %s lies outside 1900 to 2299: %w", t.UTC().Format(time.RFC3339), ErrInvalid)
	}
	return nil
}
