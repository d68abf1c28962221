package verify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Source is what a scan reads; *bus.Client is one.
type Source interface {
	ReadRecords(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Record) error) error
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	// Assembler is what makes events of the records of a partition for those who follow the topic: what it refuses is no
	// event to them, and must be none to a check.
	Assembler(topic string) event.Assembler
}

// Positions are offsets by topic and partition.
type Positions = map[string]map[int32]int64

// Cut is how far a log is read.
type Cut struct {
	Ends Positions
	// Closed is the end of spade.runs before any other end was taken: what a record before it says to be over has all its
	// records before Ends.
	Closed map[int32]int64
}

// downstream is the order in which ends are taken: what follows from something before what it follows from.
func downstream() []string {
	return []string{
		topics.DeadLetters, topics.Replays, topics.Evaluations, topics.Policies, topics.Regrets, topics.Rollouts, topics.Environments,
		topics.Work, topics.Documents, topics.Runs,
	}
}

// Ends takes the end of the log as it is now.
func Ends(ctx context.Context, s Source) (Cut, error) {
	closed, err := s.HighWatermarks(ctx, topics.Runs)
	if err != nil {
		return Cut{}, err
	}
	c := Cut{Ends: Positions{}, Closed: closed}
	for _, topic := range downstream() {
		if c.Ends[topic], err = s.HighWatermarks(ctx, topic); err != nil {
			return Cut{}, err
		}
	}
	return c, nil
}

// Records is the number of records from positions to the cut.
func (c Cut) Records(from Positions) int64 {
	var n int64
	for topic, parts := range c.Ends {
		for p, end := range parts {
			n += max(0, end-from[topic][p])
		}
	}
	return n
}

// Place is one record of the log.
type Place struct {
	Topic     string
	Partition int32
	Offset    int64
}

// String is topic/partition at offset.
func (p Place) String() string { return fmt.Sprintf("%s/%d at %d", p.Topic, p.Partition, p.Offset) }

// Entry is one event of the log, or a record that is none.
type Entry struct {
	event.Event
	Message proto.Message // nil when Err is set
	Err     error         // it is no event to anybody
	// First says that no earlier record of the partition with this id could be decoded.
	First bool
	// Before is the first record of this id in the partition, when this is not it, and Same whether it has the same payload.
	Before *Seen
	Same   bool
	// RetryOf is the record that this one was appended again from; nil: it is no retry.
	RetryOf *Place
}

// Place is where the event ends.
func (e *Entry) Place() Place { return Place{e.Topic, e.Partition, e.LastOffset} }

// Seen is what is kept of the first record of an id.
type Seen struct {
	Offset   int64
	Sum      [16]byte // the first half of the payload's SHA-256
	readable bool
}

func seen(payload []byte, offset int64, readable bool) Seen {
	sum := sha256.Sum256(payload)
	return Seen{Offset: offset, Sum: [16]byte(sum[:16]), readable: readable}
}

// Check is given every event of a scan, topic after topic in the order of the catalogue, partition after partition, each in
// the order of its offsets.
type Check interface {
	Add(ctx context.Context, e *Entry) error
	// Partition is called when a partition has been read.
	Partition(ctx context.Context) error
}

// Scan is one reading of the log.
type Scan struct {
	From  Positions // where to begin; nil: at the beginning
	Cut   Cut
	Topic []string // nil: all
	// Skip leaves out records by their key before they are decoded; nil: none.
	Skip func(topic string, key []byte) bool
	// Progress is told how many records were read.
	Progress func(records int64)
}

// progressEvery is how many records lie between two calls of Progress.
const progressEvery = 5000

// Run reads the log and gives every event to the checks.
func (s Scan) Run(ctx context.Context, log Source, checks ...Check) error {
	names := s.Topic
	if names == nil {
		for _, t := range topics.All(1) {
			names = append(names, t.Name)
		}
	}
	r := &reading{Scan: s, log: log, checks: checks}
	for _, topic := range names {
		for _, p := range slices.Sorted(maps.Keys(s.Cut.Ends[topic])) {
			r.begin()
			one := map[int32]int64{p: s.Cut.Ends[topic][p]}
			err := log.ReadRecords(ctx, topic, s.From[topic], one, func(rec event.Record) error { return r.add(ctx, rec) })
			if err != nil {
				return fmt.Errorf("read %s/%d: %w", topic, p, err)
			}
			if err := r.end(ctx); err != nil {
				return err
			}
		}
	}
	if s.Progress != nil {
		s.Progress(r.records)
	}
	return nil
}

// reading is one partition being read.
type reading struct {
	Scan
	log     Source
	checks  []Check
	seen    map[uuid.UUID]Seen
	asm     *event.Assembler // nil: no record has been read
	records int64
}

func (r *reading) begin() {
	r.seen, r.asm = map[uuid.UUID]Seen{}, nil
}

func (r *reading) end(ctx context.Context) error {
	for _, c := range r.checks {
		if err := c.Partition(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) add(ctx context.Context, rec event.Record) error {
	if r.records++; r.Progress != nil && r.records%progressEvery == 0 {
		r.Progress(r.records)
	}
	if r.Skip != nil && r.Skip(rec.Topic, rec.Key) {
		return nil
	}
	if r.asm == nil {
		asm := r.log.Assembler(rec.Topic)
		r.asm = &asm
	}
	ev, lost := r.asm.Add(rec)
	for _, l := range lost {
		e := &Entry{Err: l.Err, RetryOf: retryOf(l.Record)}
		e.Topic, e.Key, e.Payload = l.Record.Topic, string(l.Record.Key), l.Record.Value
		e.Partition, e.Offset, e.LastOffset = l.Record.Partition, l.Record.Offset, l.Record.Offset
		if err := r.give(ctx, e); err != nil {
			return err
		}
	}
	if ev == nil {
		return nil
	}
	e := &Entry{Event: *ev, RetryOf: retryOf(rec)}
	e.Message, e.Err = ev.Message()
	r.look(e)
	return r.give(ctx, e)
}

// look compares an event with the first record of its id.
func (r *reading) look(e *Entry) {
	now := seen(e.Payload, e.LastOffset, e.Err == nil)
	before, known := r.seen[e.ID]
	if !known {
		r.seen[e.ID] = now
		e.First = e.Err == nil
		return
	}
	e.Before, e.Same = &before, before.Sum == now.Sum
	if !before.readable && e.Err == nil {
		e.First = true
		before.readable = true
		r.seen[e.ID] = before
	}
}

func (r *reading) give(ctx context.Context, e *Entry) error {
	for _, c := range r.checks {
		if err := c.Add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func retryOf(r event.Record) *Place {
	partition, offset, ok := deadletter.RetryOf(r)
	if !ok {
		return nil
	}
	return &Place{r.Topic, partition, offset}
}
