package event

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func sample(t testing.TB, size int) Event {
	t.Helper()
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte("document"))
	ev, err := New(id.String(), id, 0, &spadepb.DocumentIngested{
		DocumentId: id[:], Text: string(bytes.Repeat([]byte("é\x00"), size/3)),
	}, &spadepb.Observed{Producer: "p", Sequence: 7})
	if err != nil {
		t.Fatal(err)
	}
	ev.Time = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	return ev
}

// read gives records offsets as a partition would and assembles them.
func read(records []Record) (events []Event, lost []Lost) {
	events, lost, _ = assemble(records)
	return events, lost
}

// assemble also says whether a set is open at the end.
func assemble(records []Record) (events []Event, lost []Lost, open bool) {
	var a Assembler
	for i, r := range records {
		r.Offset = int64(i)
		ev, l := a.Add(r)
		if ev != nil {
			events = append(events, *ev)
		}
		lost = append(lost, l...)
	}
	_, open = a.OldestOpen()
	return events, lost, open
}

func TestRoundTripAtEveryChunkSize(t *testing.T) {
	ev := sample(t, 100)
	for limit := 1; limit <= len(ev.Payload)+1; limit++ {
		records, err := Encode(ev, limit, uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		events, lost := read(records)
		if len(events) != 1 || lost != nil {
			t.Fatalf("limit %d: %d events, lost %v", limit, len(events), lost)
		}
		got := events[0]
		want := ev
		want.LastOffset = int64(len(records) - 1)
		if !bytes.Equal(got.Payload, want.Payload) || got.ID != want.ID || got.Type != want.Type || got.Key != want.Key ||
			!got.Time.Equal(want.Time) || got.LastOffset != want.LastOffset || !proto.Equal(got.Observed, want.Observed) {
			t.Fatalf("limit %d: got %+v, want %+v", limit, got, want)
		}
	}
}

func TestInterleavedWritingsYieldEachEventOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a, b := sample(t, 90), sample(t, 120)
	b.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte("other"))
	for range 200 {
		// Two writings of a, as after a crash in the middle of the first, and one of b, shuffled together. The order
		// within a writing stays.
		var queues [][]Record
		for _, ev := range []Event{a, a, b} {
			records, err := Encode(ev, 1+random.IntN(40), uuid.New())
			if err != nil {
				t.Fatal(err)
			}
			queues = append(queues, records)
		}
		queues[0] = queues[0][:random.IntN(len(queues[0]))]
		var all []Record
		for len(queues) > 0 {
			i := random.IntN(len(queues))
			if len(queues[i]) == 0 {
				queues = append(queues[:i], queues[i+1:]...)
				continue
			}
			all = append(all, queues[i][0])
			queues[i] = queues[i][1:]
		}
		events, lost, open := assemble(all)
		if len(events) != 2 || lost != nil || open {
			t.Fatalf("%d events, lost %v, open %v", len(events), lost, open)
		}
		for _, ev := range events {
			want := a
			if ev.ID == b.ID {
				want = b
			}
			if !bytes.Equal(ev.Payload, want.Payload) {
				t.Fatalf("payload of %s differs", ev.ID)
			}
		}
	}
}

func TestOffsetsStayBeforeAnOpenSet(t *testing.T) {
	records, err := Encode(sample(t, 90), 30, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	var a Assembler
	for i, r := range records {
		r.Offset = int64(10 + i)
		a.Add(r)
		oldest, open := a.OldestOpen()
		if last := i == len(records)-1; open == last || (open && oldest != 10) {
			t.Fatalf("after part %d: oldest open %d, %v", i, oldest, open)
		}
	}
}

// Wherever a reader begins, parts whose first one it has not seen hold nothing back, and are nobody's loss: it begins at the first
// part of everything that is still needed.
func TestPartsWithoutTheirFirstOneAreVoid(t *testing.T) {
	ev := sample(t, 90)
	var all []Record
	for range 2 { // the second time its producer did not know of the first
		records, err := Encode(ev, 30, uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records...)
	}
	for i := range all {
		all[i].Offset = int64(i)
	}
	n := len(all) / 2
	for from := range all {
		a := Assembler{Midway: from > 0}
		var events []Event
		for _, r := range all[from:] {
			ev, lost := a.Add(r)
			if len(lost) > 0 {
				t.Errorf("from %d: lost %v", from, lost)
			}
			if ev != nil {
				events = append(events, *ev)
			}
		}
		if at, open := a.OldestOpen(); open {
			t.Errorf("from %d: what is at %d holds the commits back", from, at)
		}
		if want := from <= n; (len(events) == 1) != want {
			t.Errorf("from %d: %d events", from, len(events))
		}
	}
}

func TestCorruptPartsAreLostNotDelivered(t *testing.T) {
	records, err := Encode(sample(t, 90), 30, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	records[1].Value = bytes.Clone(records[1].Value)
	records[1].Value[3] ^= 1
	events, lost := read(records)
	if len(events) != 0 || len(lost) != 1 || !errors.Is(lost[0].Err, ErrMalformed) {
		t.Fatalf("events %v, lost %v", events, lost)
	}
}

func TestASetThatNeverClosesIsLost(t *testing.T) {
	records, err := Encode(sample(t, 90), 30, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	small, err := Encode(sample(t, 3), 0, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	all := records[:1]
	for range maxOpenRecords + len(records) + 1 {
		all = append(all, small[0])
	}
	_, lost := read(all)
	if len(lost) != 1 || !errors.Is(lost[0].Err, ErrIncomplete) || lost[0].Record.Offset != 0 {
		t.Fatalf("lost %v", lost)
	}
}

func TestTooLargeNamesBothSizes(t *testing.T) {
	ev := sample(t, 3)
	ev.Payload = make([]byte, topics.MaxEventBytes+1)
	_, err := Encode(ev, 0, uuid.New())
	var large *TooLargeError
	if !errors.As(err, &large) || large.Actual != topics.MaxEventBytes+1 || large.Allowed != topics.MaxEventBytes {
		t.Fatalf("error %v", err)
	}
}

func TestPartsAreBounded(t *testing.T) {
	c := chunk{count: maxParts + 1, total: 2 * maxParts}
	if _, err := unmarshalChunk(c.marshal()); err == nil {
		t.Error("a record of an event of too many parts was taken")
	}
	ev := sample(t, 3)
	ev.Payload = make([]byte, maxParts+1)
	if _, err := Encode(ev, 1, uuid.New()); err == nil {
		t.Error("an event of too many parts was written")
	}
}

func TestRecordsThatAreNoEvents(t *testing.T) {
	good, err := Encode(sample(t, 3), 0, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, value string) Record {
		r := good[0]
		r.Headers = append([]Header(nil), r.Headers...)
		for i := range r.Headers {
			if r.Headers[i].Key == name {
				r.Headers[i].Value = []byte(value)
			}
		}
		return r
	}
	for name, tc := range map[string]struct {
		record Record
		want   error
	}{
		"no headers":        {Record{Value: []byte("hello")}, ErrMalformed},
		"id is no uuid":     {with(headerID, "x"), ErrMalformed},
		"type of tomorrow":  {with(headerType, "spade.v9.Strange"), ErrUnknownType},
		"time is no time":   {with(headerTime, "yesterday"), ErrMalformed},
		"observed is noise": {with(headerObserved, "\xff\xff"), ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			events, lost := read([]Record{tc.record, good[0]})
			if len(events) != 1 {
				t.Fatalf("%d events: the record after it must still be read", len(events))
			}
			if len(lost) != 1 || !errors.Is(lost[0].Err, tc.want) {
				t.Fatalf("lost %v, want %v", lost, tc.want)
			}
		})
	}
}

func TestPayloadsWithIDsOfAnotherLengthAreMalformed(t *testing.T) {
	for name, msg := range map[string]proto.Message{
		"short id":   &spadepb.RolloutCompleted{EnvId: []byte("short"), RolloutId: make([]byte, 16)},
		"missing id": &spadepb.RolloutCompleted{EnvId: make([]byte, 16)},
	} {
		t.Run(name, func(t *testing.T) {
			payload, err := proto.Marshal(msg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Unmarshal(TypeOf(msg), payload); !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func FuzzAssembler(f *testing.F) {
	records, err := Encode(sample(f, 60), 30, uuid.UUID{1})
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range records {
		chunk := r.Headers[len(r.Headers)-1].Value
		f.Add(r.Value, chunk, []byte("spade.v1.DocumentIngested"), []byte(r.Headers[0].Value))
	}
	f.Fuzz(func(_ *testing.T, value, chunk, ceType, id []byte) {
		r := Record{Value: value, Headers: []Header{
			{headerID, id}, {headerType, ceType}, {headerChunk, chunk}, {headerObserved, value},
		}}
		var a Assembler
		for range 3 {
			if ev, _ := a.Add(r); ev != nil {
				_, _ = ev.Message()
			}
		}
	})
}

func FuzzUnmarshal(f *testing.F) {
	for i := range Kinds() {
		f.Add(i, []byte{10, 16})
	}
	f.Fuzz(func(_ *testing.T, i int, payload []byte) {
		kinds := Kinds()
		_, _ = Unmarshal(kinds[abs(i)%len(kinds)].Type, payload)
	})
}

func abs(i int) int {
	if i < 0 {
		return -(i + 1)
	}
	return i
}
