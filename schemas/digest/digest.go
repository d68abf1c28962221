// Package digest computes a run's log digest: what two runs with the same name, seed, semantic configuration and
// architecture have in common whatever machine, parallelism or data folder they ran on. Begin with Log.
package digest

import (
	"bytes"
	"cmp"
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

// Log collects the events of one run, about 90 bytes for each. The zero value is not ready; use New. It is not safe for
// concurrent use.
type Log struct {
	run     uuid.UUID
	names   intern // topics, types and keys
	entries []entry
	settled int // entries before it are sorted and hold each event once
	added   uint32
	repeats []numbered
}

// entry is one record.
type entry struct {
	id            uuid.UUID
	payload       [sha256.Size]byte
	offset        int64
	partition     int32
	number        uint32 // in the order in which entries were added
	key           uint32
	topic, ceType uint32
	marked        bool
}

// numbered is a repeat with its place in the order in which records were added.
type numbered struct {
	Repeat
	number uint32
}

// intern gives texts numbers.
type intern struct {
	numbers map[string]uint32
	texts   []string
}

func (n *intern) number(text string) uint32 {
	i, ok := n.numbers[text]
	if !ok {
		i = uint32(len(n.texts))
		n.texts = append(n.texts, text)
		n.numbers[text] = i
	}
	return i
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
	return &Log{run: run, names: intern{numbers: map[string]uint32{}}}
}

// Add takes an event in the offset order of its partition. Events of other runs and those that are in no digest are
// ignored.
func (l *Log) Add(ev event.Event) {
	if !topics.OfRun(ev.Key, l.run) || !Counts(ev) {
		return
	}
	l.entries = append(l.entries, entry{
		id: ev.ID, payload: sha256.Sum256(ev.Payload), offset: ev.Offset, partition: ev.Partition, number: l.added,
		key: l.names.number(ev.Key), topic: l.names.number(ev.Topic), ceType: l.names.number(ev.Type),
		marked: ev.Observed.GetNondeterministic(),
	})
	l.added++
}

// settle sorts the entries by topic and id and leaves the first record of each event.
func (l *Log) settle() {
	if l.settled == len(l.entries) {
		return
	}
	slices.SortFunc(l.entries, func(a, b entry) int {
		if a.topic != b.topic {
			return strings.Compare(l.names.texts[a.topic], l.names.texts[b.topic])
		}
		return cmp.Or(bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.number, b.number))
	})
	kept := l.entries[:0]
	for _, e := range l.entries {
		if n := len(kept); n == 0 || kept[n-1].topic != e.topic || kept[n-1].id != e.id {
			kept = append(kept, e)
		} else if kept[n-1].payload != e.payload {
			l.repeats = append(l.repeats, numbered{Repeat{l.names.texts[e.topic], e.id, e.partition, e.offset}, e.number})
		}
	}
	l.entries, l.settled = kept, len(kept)
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
func (l *Log) Len() int {
	l.settle()
	return len(l.entries)
}

// Nondeterministic is the number of events that were marked so: the wall clock had a part in them.
func (l *Log) Nondeterministic() int {
	l.settle()
	n := 0
	for i := range l.entries {
		if l.entries[i].marked {
			n++
		}
	}
	return n
}

// Repeats lists records that repeated an event_id with another payload, in the order they were added.
func (l *Log) Repeats() []Repeat {
	l.settle()
	slices.SortFunc(l.repeats, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	out := make([]Repeat, len(l.repeats))
	for i, r := range l.repeats {
		out[i] = r.Repeat
	}
	return out
}

// Sum is the digest: SHA-256 over the events sorted by (topic, event_id), each as topic, key, ce_type, event_id and the
// SHA-256 of its payload, every part preceded by its length as four big-endian bytes.
func (l *Log) Sum() [sha256.Size]byte {
	l.settle()
	h := sha256.New()
	for i := range l.entries {
		e := &l.entries[i]
		write(h, []byte(l.names.texts[e.topic]), []byte(l.names.texts[e.key]), []byte(l.names.texts[e.ceType]), e.id[:], e.payload[:])
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
