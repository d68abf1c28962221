package corpus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func newEvent(t testing.TB, id uuid.UUID, msg proto.Message) event.Event {
	t.Helper()
	ev, err := event.New(id.String(), id, 0, msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// Whatever the order in which partitions are read, the fold comes out the same. A document's own events keep their
// order, except that a withdrawal may come first, which a fold must survive as well.
func TestIndexOrder(t *testing.T) {
	var events []event.Event
	for i := range 20 {
		id := ids.Document([]byte{byte(i)})
		events = append(events, newEvent(t, id, &spadepb.DocumentIngested{DocumentId: id[:], ParentId: id[:], Chunks: 1, Source: "s", Text: "text"}))
		if i%3 == 0 {
			events = append(events, newEvent(t, id, &spadepb.DocumentWithdrawn{DocumentId: id[:], Reason: "r"}))
		}
		if i%4 == 0 { // a retry repeats the event
			events = append(events, events[len(events)-1])
		}
	}
	var want []Entry
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		var x Index
		for _, ev := range events {
			if err := x.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
		got := x.Entries()
		if round == 0 {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
		if live := x.IDs(); len(live) != 13 || !slices.IsSortedFunc(live, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
			t.Fatalf("live %v", live)
		}
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
}

func TestIndexFirstWins(t *testing.T) {
	id := ids.Document([]byte("x"))
	var x Index
	for _, source := range []string{"first", "second"} {
		if err := x.Apply(newEvent(t, id, &spadepb.DocumentIngested{DocumentId: id[:], Source: source})); err != nil {
			t.Fatal(err)
		}
	}
	if e, ok := x.Find(id); !ok || e.Source != "first" || e.Parent != id || e.Chunks != 1 {
		t.Errorf("entry %+v", e)
	}
}

func TestIndexApplyOthers(t *testing.T) {
	var x Index
	run := ids.Run("r")
	if err := x.Apply(newEvent(t, run, &spadepb.RunResumed{})); err != nil {
		t.Errorf("another type: %v", err)
	}
	err := x.Apply(event.Event{Type: "spade.v1.DocumentIngested", Payload: []byte{0xff}})
	if !errors.Is(err, event.ErrMalformed) {
		t.Errorf("malformed: %v", err)
	}
	if len(x.Entries()) != 0 {
		t.Error("entries of nothing")
	}
}
