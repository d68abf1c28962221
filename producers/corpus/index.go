package corpus

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Entry is what an Index keeps of a document: all but its text.
type Entry struct {
	ID, Parent uuid.UUID
	Chunk      int
	Chunks     int
	Source     string
	Title      string
	MediaType  string
	Bytes      int // of the text
	Withdrawn  bool
	Reason     string // of the withdrawal
}

// Index is the fold of spade.documents. It comes out the same whatever the order of the partitions: a document's events
// lie in one, its first DocumentIngested counts, and a withdrawal is final. The zero value is an empty log. It may be
// used concurrently.
type Index struct {
	mu      sync.RWMutex // guards the following
	entries map[uuid.UUID]Entry
}

// Apply folds one event; those of other types are ignored. The error is of class event.ErrMalformed.
func (x *Index) Apply(ev event.Event) error {
	switch ev.Type {
	case event.TypeOf((*spadepb.DocumentIngested)(nil)), event.TypeOf((*spadepb.DocumentWithdrawn)(nil)):
	default:
		return nil
	}
	msg, err := ev.Message()
	if err != nil {
		return err
	}
	switch m := msg.(type) {
	case *spadepb.DocumentIngested:
		x.ingested(m)
	case *spadepb.DocumentWithdrawn:
		x.withdrawn(m)
	}
	return nil
}

func (x *Index) ingested(m *spadepb.DocumentIngested) {
	x.mu.Lock()
	defer x.mu.Unlock()
	id := uuid.UUID(m.DocumentId)
	old := x.entries[id]
	if old.Chunks > 0 {
		return // without chunks it is none, or the withdrawal alone was seen so far
	}
	parent := id
	if len(m.ParentId) == len(parent) {
		parent = uuid.UUID(m.ParentId)
	}
	x.put(Entry{
		ID: id, Parent: parent, Chunk: int(m.Chunk), Chunks: max(1, int(m.Chunks)), Source: m.Source, Title: m.Title,
		MediaType: m.MediaType, Bytes: len(m.Text), Withdrawn: old.Withdrawn, Reason: old.Reason,
	})
}

func (x *Index) withdrawn(m *spadepb.DocumentWithdrawn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.entries[uuid.UUID(m.DocumentId)]
	if e.Withdrawn {
		return
	}
	e.ID, e.Withdrawn, e.Reason = uuid.UUID(m.DocumentId), true, m.Reason
	x.put(e)
}

// put stores an entry; the lock is held.
func (x *Index) put(e Entry) {
	if x.entries == nil {
		x.entries = map[uuid.UUID]Entry{}
	}
	x.entries[e.ID] = e
}

// Find returns what is known of a document.
func (x *Index) Find(id uuid.UUID) (Entry, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e, ok := x.entries[id]
	return e, ok
}

// IDs lists the documents that may be sampled, in ascending order: those ingested and not withdrawn.
func (x *Index) IDs() []uuid.UUID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]uuid.UUID, 0, len(x.entries))
	for id, e := range x.entries {
		if !e.Withdrawn {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return out
}

// Entries lists everything known, by source, parent and chunk.
func (x *Index) Entries() []Entry {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]Entry, 0, len(x.entries))
	for _, e := range x.entries {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		if c := strings.Compare(a.Source, b.Source); c != 0 {
			return c
		}
		if c := bytes.Compare(a.Parent[:], b.Parent[:]); c != 0 {
			return c
		}
		if a.Chunk != b.Chunk {
			return a.Chunk - b.Chunk
		}
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	return out
}
