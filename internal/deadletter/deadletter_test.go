package deadletter

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// smallLog takes events of so many bytes.
type smallLog struct {
	most   int
	events []event.Event
}

func (l *smallLog) Append(_ context.Context, events ...event.Event) error {
	for _, ev := range events {
		if len(ev.Payload) > l.most {
			return &event.TooLargeError{Topic: ev.Topic, Actual: len(ev.Payload), Allowed: l.most}
		}
	}
	l.events = append(l.events, events...)
	return nil
}

func letter(t *testing.T, payload []byte) *spadepb.DeadLetter {
	t.Helper()
	log := &smallLog{most: 100}
	w := Writer{Log: log, Source: observe.NewSource("test"), Consumer: "test"}
	if err := w.Event(t.Context(), event.Event{Topic: "a", Partition: 1, Offset: 2, Payload: payload}, errors.New("bad")); err != nil {
		t.Fatal(err)
	}
	msg, err := log.events[0].Message()
	if err != nil {
		t.Fatal(err)
	}
	return msg.(*spadepb.DeadLetter)
}

func TestALetterHoldsTheBytes(t *testing.T) {
	got := letter(t, []byte("payload"))
	if got.GetTopic() != "a" || got.GetPartition() != 1 || got.GetOffset() != 2 || got.GetError() != "bad" ||
		string(got.GetPayload()) != "payload" {
		t.Errorf("%v", got)
	}
}

func TestALetterThatIsTooLargeNamesItsPlaceOnly(t *testing.T) {
	got := letter(t, bytes.Repeat([]byte("x"), 200))
	if len(got.GetPayload()) != 0 || got.GetOffset() != 2 || !strings.Contains(got.GetError(), "200 bytes") {
		t.Errorf("%v", got)
	}
}

// A record that decompresses to more than an event may have, with a key that does too, is kept without both: it must not be tried
// for ever.
func TestALetterOfMoreThanAnEventMayHave(t *testing.T) {
	log := &smallLog{most: topics.MaxEventBytes}
	w := Writer{Log: log, Source: observe.NewSource("test"), Consumer: "test"}
	huge := make([]byte, topics.MaxEventBytes)
	for _, r := range []event.Record{{Value: huge}, {Key: huge, Value: huge}} {
		r.Topic, r.Partition, r.Offset = topics.Rollouts, 1, 2
		if err := w.Record(t.Context(), r, errors.New("bad")); err != nil {
			t.Fatal(err)
		}
	}
	for _, ev := range log.events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		if got := msg.(*spadepb.DeadLetter); len(got.GetKey())+len(got.GetPayload()) != 0 || !strings.Contains(got.GetError(), "67108864 bytes") {
			t.Errorf("%d bytes: %s", len(ev.Payload), got.GetError())
		}
	}
}
