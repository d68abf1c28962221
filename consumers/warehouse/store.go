package warehouse

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Place is one partition of one topic.
type Place struct {
	Topic     string
	Partition int32
}

// Range is the offsets of a flush: those of its first and last event.
type Range struct{ First, Last int64 }

// Token is what the server recognises a table's block of a range by.
func Token(table string, p Place, r Range) string {
	return fmt.Sprintf("%s:%s:%d:%d-%d", table, p.Topic, p.Partition, r.First, r.Last)
}

// Writer is who writes a place: its token, which is the claim, and the generation of the group that gave it the place.
type Writer struct {
	Group      string
	Token      uint64
	Generation int32
	// Incarnations are the ids of the topics that it reads, by name. A topic without one is not told from another of its name.
	Incarnations map[string]string
}

// State is what the warehouse knows of a place.
type State struct {
	// Next is the offset before which every event is in the warehouse. It is not beyond the first of the plan.
	Next int64
	// Plan is the newest range that was planned and not finished whole. Nil: none.
	Plan *Range
	// Incarnation is the id of the topic that the place was filled from. Empty: not known.
	Incarnation string
}

// Window is how far back a table recognises a block by its token.
type Window struct {
	// Blocks is how many tokens it remembers. Zero: none.
	Blocks int64
	// Age is for how long. Zero: for ever.
	Age time.Duration
}

// Withdrawal is a document whose text must go, as far as it was ingested before an offset.
type Withdrawal struct {
	Document uuid.UUID
	Before   int64
}

// Store is the warehouse as the sink uses it. Its methods may be called concurrently for different places.
//
// Every write but Claim is refused with ErrFenced unless the writer holds the claim on the place at the moment the server
// executes it. Errors that wrap ErrTransient leave open whether the write happened; repeating it is safe, because Insert is
// recognised by its token and the others say the same again.
type Store interface {
	// Claim makes w the only writer of the places, whoever was before.
	Claim(ctx context.Context, places []Place, w Writer) error
	// Incarnations reads which topics the places of a group were filled from: their ids, by name, as far as they are known.
	Incarnations(ctx context.Context, group string) (map[string]string, error)
	// Windows reads, for every table that takes blocks, the window that the server really keeps.
	Windows(ctx context.Context) (map[string]Window, error)
	// Load reads the state of places; a place that was never written is State{}.
	Load(ctx context.Context, group string, places []Place) (map[Place]State, error)
	// Positions reads State.Next of every place that has one.
	Positions(ctx context.Context, group string) (bus.Positions, error)
	// Present returns the ids of those events that have rows from an offset of the place before first.
	Present(ctx context.Context, p Place, first int64, events []event.Event) (map[uuid.UUID]bool, error)
	// Plan records that a range is about to be inserted.
	Plan(ctx context.Context, p Place, w Writer, r Range) error
	// Insert writes a block, whole or not at all. A block whose token the table remembers is dropped. The rows carry the
	// writer's token already.
	Insert(ctx context.Context, t *tables.Table, token string, rec arrow.Record) error
	// Held returns the offsets of a range of the place that a table has rows of.
	Held(ctx context.Context, t *tables.Table, p Place, r Range) (map[int64]bool, error)
	// Redact removes the text that documents had before they were withdrawn at offsets of the place.
	Redact(ctx context.Context, p Place, withdrawn []Withdrawal) error
	// Finish records that every event before next is in the warehouse.
	Finish(ctx context.Context, p Place, w Writer, next int64) error
}
