package event

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestPartOfAPayload(t *testing.T) {
	w := newWorld()
	whole := w.completed()
	whole.Outcome, whole.SeedIndex = "solved", 3
	payload, err := proto.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewPartial(whole, "arm", "outcome", "no_such_field").Message(payload)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&spadepb.RolloutCompleted{Arm: ids.ArmPlain, Outcome: "solved"}); !proto.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, err := NewPartial(whole).Message(payload); err != nil || !proto.Equal(got, &spadepb.RolloutCompleted{}) {
		t.Errorf("of no field: %v, %v", got, err)
	}
	notUTF8 := append([]byte{5<<3 | 2, 1, 0xff}, payload...) // arm
	for name, payload := range map[string][]byte{"cut short": payload[:len(payload)-1], "noise": {0xff}, "a field that is no text": notUTF8} {
		if got, err := NewPartial(whole, "arm").Message(payload); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
