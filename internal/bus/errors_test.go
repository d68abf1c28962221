package bus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

// What a person reads names the broker and what is wrong with it, and no method of a library.
func TestErrorsNameNoMethodOfTheLibrary(t *testing.T) {
	c, err := bus.New(bus.Config{Brokers: []string{"127.0.0.1:1"}}, bus.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = c.Ready(ctx)
	if !errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "(*") {
		t.Error(err)
	}
}

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
