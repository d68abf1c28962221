// Package digest computes a run's log digest: what two runs with the same name, seed, semantic configuration and
// architecture have in common whatever machine, parallelism or data folder they ran on. Begin with Log.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Log collects the events of one run. The zero value is not ready; use New. It is not safe for concurrent use.
type Log struct {
	run     uuid.UUID
	entries map[entryKey]entry
	repeats []Repeat
	marked  int
}

type entryKey struct {
	topic string
	id    uuid.UUID
}

type entry struct {
	key, ceType string
	payload     [sha256.Size]byte
	partition   int32
	offset      int64
}

// Repeat is a record that repeats an event_id with another payload; the earlier record wins.
type Repeat struct {
	Topic     string
	ID        uuid.UUID
	Partition int32
	Offset    int64
}

// New makes an empty collection for a run.
func New(run uuid.UUID) *Log {
	return &Log{run: run, entries: map[entryKey]entry{}}
}

// Add takes an event in the offset order of its partition. Events of other runs and those that are in no digest are
// ignored.
func (l *Log) Add(ev event.Event) {
	if !topics.OfRun(ev.Key, l.run) || !Counts(ev) {
		return
	}
	sum := sha256.Sum256(ev.Payload)
	k := entryKey{ev.Topic, ev.ID}
	if first, ok := l.entries[k]; ok {
		if first.payload != sum {
			l.repeats = append(l.repeats, Repeat{ev.Topic, ev.ID, ev.Partition, ev.Offset})
		}
		return
	}
	if ev.Observed.GetNondeterministic() {
		l.marked++
	}
	l.entries[k] = entry{ev.Key, ev.Type, sum, ev.Partition, ev.Offset}
}

// Counts reports whether an event is of a kind that enters digests.
func Counts(ev event.Event) bool {
	switch ev.Topic {
	case topics.DeadLetters, topics.Replays, topics.Documents:
		return false
	}
	return ev.Type != event.TypeOf((*spadepb.RunResumed)(nil))
}

// Len is the number of distinct events.
func (l *Log) Len() int { return len(l.entries) }

// Nondeterministic is the number of events that were marked so: the wall clock had a part in them.
func (l *Log) Nondeterministic() int { return l.marked }

// Repeats lists records that repeated an event_id with another payload, in the order they were added.
func (l *Log) Repeats() []Repeat { return slices.Clone(l.repeats) }

// Sum is the digest: SHA-256 over the events sorted by (topic, event_id), each as topic, key, ce_type, event_id and the
// SHA-256 of its payload, every part preceded by its length as four big-endian bytes.
func (l *Log) Sum() [sha256.Size]byte {
	keys := make([]entryKey, 0, len(l.entries))
	for k := range l.entries {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b entryKey) int {
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return bytes.Compare(a.id[:], b.id[:])
	})
	h := sha256.New()
	for _, k := range keys {
		e := l.entries[k]
		write(h, []byte(k.topic), []byte(e.key), []byte(e.ceType), k.id[:], e.payload[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func write(h hash.Hash, parts ...[]byte) {
	var n [4]byte
	for _, p := range parts {
		binary.BigEndian.PutUint32(n[:], uint32(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
}
