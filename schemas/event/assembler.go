package event

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// A set of continuation records that is still open after this much more of its partition is given up.
const (
	maxOpenBytes   = 64 << 20
	maxOpenRecords = 10_000
	// Large events whose late parts are still recognised as void.
	maxRemembered = 1024
	// Sets that may be open at once: more than there are writers of a partition.
	maxOpenSets = 256
)

// Lost is a record, or the first record of a set, that yields no event. It belongs in the dead letters.
type Lost struct {
	Record Record
	Err    error
}

// Assembler turns the records of ONE partition, given in offset order, back into events. The zero value is ready. It is
// not safe for concurrent use.
type Assembler struct {
	// Check is what an event must pass; one that does not is lost. Nil: nothing.
	Check func(Event) error
	// Midway says that reading begins after the partition's first record, as a run's consumers do. A set that is first seen
	// after its first part began before that: it cannot become whole here and is passed over. Those who begin earlier have it.
	Midway bool

	open    []*openSet // in the order of their first record
	done    map[uuid.UUID]bool
	ordered []uuid.UUID // keys of done, oldest first
}

// openSet is the parts of one writing of an event that have been seen.
type openSet struct {
	first   Record
	event   Event
	chunk   chunk
	parts   map[int][]byte // a count is easily written; room is made for what comes
	bytes   int            // of the partition since the set was opened
	records int
}

// Add takes the next record. It returns an event when the record completes one, and whatever has become hopeless.
func (a *Assembler) Add(r Record) (*Event, []Lost) {
	lost := a.age(r)
	ev, part, err := decode(r)
	if err != nil {
		return nil, append(lost, Lost{r, err})
	}
	if part == nil {
		if err := a.check(ev); err != nil {
			return nil, append(lost, Lost{r, err})
		}
		return &ev, lost
	}
	if a.done[ev.ID] || a.Midway && part.index > 0 && a.find(ev.ID, *part) == nil {
		return nil, lost
	}
	set, crowded := a.set(r, ev, *part)
	lost = append(lost, crowded...)
	if err := set.add(ev.Payload, *part); err != nil {
		return nil, append(lost, Lost{r, err})
	}
	if len(set.parts) < set.chunk.count {
		return nil, lost
	}
	whole, err := set.assemble(r.Offset)
	if err == nil {
		err = a.check(*whole)
	}
	if err != nil {
		a.drop(func(s *openSet) bool { return s == set })
		return nil, append(lost, Lost{set.first, err})
	}
	a.drop(func(s *openSet) bool { return s.event.ID == ev.ID })
	a.remember(ev.ID)
	return whole, lost
}

func (a *Assembler) check(ev Event) error {
	if a.Check == nil {
		return nil
	}
	return a.Check(ev)
}

// OldestOpen is the offset of the first record of the oldest set that is still open; offsets must not be committed at or
// past it.
func (a *Assembler) OldestOpen() (offset int64, open bool) {
	if len(a.open) == 0 {
		return 0, false
	}
	return a.open[0].first.Offset, true
}

// age counts a record against every open set and gives up the sets that have waited too long.
func (a *Assembler) age(r Record) []Lost {
	var lost []Lost
	for _, s := range a.open {
		s.bytes += len(r.Value)
		s.records++
	}
	expired := func(s *openSet) bool {
		return s.bytes > s.chunk.total+maxOpenBytes || s.records > s.chunk.count+maxOpenRecords
	}
	for _, s := range a.open {
		if expired(s) {
			lost = append(lost, s.givenUp())
		}
	}
	if lost != nil {
		a.drop(expired)
	}
	return lost
}

// set finds the open set that a part belongs to, or opens it. The oldest one is given up for it where too many are open:
// they are no writers' that die, but somebody's who only begins.
func (a *Assembler) set(r Record, ev Event, c chunk) (found *openSet, lost []Lost) {
	if s := a.find(ev.ID, c); s != nil {
		return s, nil
	}
	if len(a.open) == maxOpenSets {
		oldest := a.open[0]
		lost = append(lost, oldest.givenUp())
		a.drop(func(s *openSet) bool { return s == oldest })
	}
	s := &openSet{first: r, event: ev, chunk: c, parts: map[int][]byte{}}
	a.open = append(a.open, s)
	return s, lost
}

// find is the open set that a part belongs to, or nil.
func (a *Assembler) find(id uuid.UUID, c chunk) *openSet {
	for _, s := range a.open {
		if s.event.ID == id && s.chunk.nonce == c.nonce {
			return s
		}
	}
	return nil
}

func (s *openSet) givenUp() Lost {
	return Lost{s.first, fmt.Errorf("%d of %d parts of %s: %w", len(s.parts), s.chunk.count, s.event.ID, ErrIncomplete)}
}

func (a *Assembler) drop(which func(*openSet) bool) {
	kept := a.open[:0]
	for _, s := range a.open {
		if !which(s) {
			kept = append(kept, s)
		}
	}
	clear(a.open[len(kept):])
	a.open = kept
}

func (a *Assembler) remember(id uuid.UUID) {
	if a.done == nil {
		a.done = map[uuid.UUID]bool{}
	}
	if len(a.ordered) == maxRemembered {
		delete(a.done, a.ordered[0])
		a.ordered = a.ordered[1:]
	}
	a.done[id] = true
	a.ordered = append(a.ordered, id)
}

func (s *openSet) add(part []byte, c chunk) error {
	if c.count != s.chunk.count || c.total != s.chunk.total || c.sum != s.chunk.sum {
		return fmt.Errorf("part %d of %s contradicts the parts before it: %w", c.index, s.event.ID, ErrMalformed)
	}
	if _, have := s.parts[c.index]; !have {
		s.parts[c.index] = part
	}
	return nil
}

// assemble joins the parts. The result spans the set's first record to the one at lastOffset.
func (s *openSet) assemble(lastOffset int64) (*Event, error) {
	size := 0
	for _, part := range s.parts {
		size += len(part)
	}
	payload := make([]byte, 0, min(size, s.chunk.total+1))
	for i := range s.chunk.count {
		payload = append(payload, s.parts[i]...)
	}
	if len(payload) != s.chunk.total || sha256.Sum256(payload) != s.chunk.sum {
		return nil, fmt.Errorf("parts of %s do not make the whole: %w", s.event.ID, errors.Join(ErrMalformed, ErrIncomplete))
	}
	ev := s.event
	ev.Payload = payload
	ev.Offset, ev.LastOffset = s.first.Offset, lastOffset
	return &ev, nil
}
