package eventview_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/cmd/spade/internal/eventview"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func log(t *testing.T) *bus.Client {
	t.Helper()
	client := bustest.Open(t).Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for _, name := range []string{"one", "two", "three"} {
		run := ids.Run(name)
		ev, err := event.New(topics.RunKey(run), run, 0, &spadepb.RunStarted{RunId: run[:], Name: name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	poison := event.Event{Topic: topics.Runs, Key: "x", Type: "spade.v1.RunStarted", ID: uuid.New(), Payload: []byte{0xff}, Time: time.Now()}
	if err := client.Append(t.Context(), append(events, poison)...); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCat(t *testing.T) {
	client := log(t)
	for run, want := range map[string]int{"": 3, "two": 1, ids.Run("three").String(): 1, "none": 0} {
		var out bytes.Buffer
		printed, unreadable, err := eventview.Cat(t.Context(), client, eventview.Query{Topic: topics.Runs, Run: run}, eventview.Printer{Out: &out})
		if err != nil || printed != want || strings.Count(out.String(), "\n") != want {
			t.Errorf("run %q: %d events, %v:\n%s", run, printed, err, out.String())
		}
		if run == "" && unreadable != 1 {
			t.Errorf("%d unreadable events", unreadable)
		}
	}
}

func TestTail(t *testing.T) {
	client := log(t)
	var out bytes.Buffer
	query := eventview.Query{Topic: topics.Runs}
	if err := eventview.Tail(t.Context(), client, query, eventview.Printer{Out: &out}, 2, false); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `"three"`) {
		t.Errorf("the last two of which one is unreadable:\n%s", out.String())
	}
	out.Reset()
	ofOne := eventview.Query{Topic: topics.Runs, Run: "one"}
	if err := eventview.Tail(t.Context(), client, ofOne, eventview.Printer{Out: &out}, 1, false); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `"one"`) {
		t.Errorf("the last of a run with newer ones of others behind it:\n%s", out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := writer(func(line []byte) {
		if bytes.Contains(line, []byte(`"three"`)) {
			cancel()
		}
	})
	if err := eventview.Tail(ctx, client, query, eventview.Printer{Out: seen}, 10, true); err != nil {
		t.Fatal(err)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

func TestTopic(t *testing.T) {
	for _, name := range []string{"runs", "spade.runs"} {
		if got, err := eventview.Topic(name); err != nil || got != topics.Runs {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := eventview.Topic("rnus"); !errors.Is(err, eventview.ErrNoTopic) || !strings.Contains(err.Error(), "spade.rollouts") {
		t.Errorf("%v", err)
	}
}
