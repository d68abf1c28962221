package event

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/topics"
)

// Who begins to read between the parts of a large event neither waits for the parts before nor takes it for damaged.
func TestReadingBeginsBetweenParts(t *testing.T) {
	write := func(name string) []Record {
		t.Helper()
		ev := Event{
			Topic: topics.Rollouts, Key: "k", Type: "spade.v1.RolloutCompleted", ID: uuid.NewSHA1(uuid.Nil, []byte(name)),
			Payload: bytes.Repeat([]byte(name), 100),
		}
		records, err := Encode(ev, 100, uuid.New())
		if err != nil || len(records) < 3 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		return records
	}
	log := append(write("one")[1:], write("two")...)
	for i := range log {
		log[i].Offset = int64(i)
	}
	for _, midway := range []bool{true, false} {
		a := Assembler{Midway: midway}
		var got []Event
		for _, r := range log {
			ev, lost := a.Add(r)
			if len(lost) > 0 {
				t.Errorf("lost: %v", lost[0].Err)
			}
			if ev != nil {
				got = append(got, *ev)
			}
		}
		if len(got) != 1 || !bytes.HasPrefix(got[0].Payload, []byte("two")) {
			t.Errorf("midway %t: %d events", midway, len(got))
		}
		if _, open := a.OldestOpen(); open == midway {
			t.Errorf("midway %t: a set is open: %t", midway, open)
		}
	}
}
