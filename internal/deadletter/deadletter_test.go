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
)

// smallLog takes events of up to 100 bytes.
type smallLog struct{ events []event.Event }

func (l *smallLog) Append(_ context.Context, events ...event.Event) error {
	for _, ev := range events {
		if len(ev.Payload) > 100 {
			return &event.TooLargeError{Topic: ev.Topic, Actual: len(ev.Payload), Allowed: 100}
		}
	}
	l.events = append(l.events, events...)
	return nil
}

func letter(t *testing.T, payload []byte) *spadepb.DeadLetter {
	t.Helper()
	log := &smallLog{}
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
