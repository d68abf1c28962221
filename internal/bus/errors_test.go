package bus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

// An append of thousands that are all wrong says so in a few lines.
func TestARefusalOfManyIsShort(t *testing.T) {
	e := &bus.RejectedError{}
	for i := range 10_000 {
		e.Rejected = append(e.Rejected, bus.Rejection{Index: i, ID: "id", Err: event.ErrKey})
	}
	text := e.Error()
	if len(text) > 1000 || !strings.Contains(text, "10000 events refused") || !strings.HasSuffix(text, "and 9995 more") {
		t.Error(text)
	}
	if !errors.Is(e, event.ErrKey) {
		t.Error("the class is lost")
	}
}
