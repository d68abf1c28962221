package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// topic is one that tests write to; it has testPartitions partitions.
const (
	topic          = topics.Rollouts
	otherTopic     = topics.Regrets
	testPartitions = 3
)

// setup opens a log with the whole catalogue and a client.
func setup(t *testing.T) (*bustest.Log, *bus.Client) {
	t.Helper()
	l := bustest.Open(t)
	c := l.Client(t)
	ensure(t, c)
	return l, c
}

// embedded is setup for what only the embedded broker can be made to do.
func embedded(t *testing.T) (*bustest.Broker, *bus.Client) {
	t.Helper()
	b := bustest.Start(t)
	c := b.Client(t)
	ensure(t, c)
	return b, c
}

// cluster is a bustest.Log or a bustest.Broker.
type cluster interface {
	Config() bus.Config
	ClientWith(tb testing.TB, cfg bus.Config, set bus.Settings) *bus.Client
}

func ensure(t *testing.T, c *bus.Client) {
	t.Helper()
	if err := c.EnsureTopics(t.Context(), topics.All(testPartitions)); err != nil {
		t.Fatal(err)
	}
}

// newEvent makes an event whose payload is its name.
func newEvent(topic, key, name string) event.Event {
	return event.Event{
		Topic: topic, Key: key, Type: "spade.v1.RolloutCompleted", ID: uuid.NewSHA1(uuid.Nil, []byte(name)),
		Payload: []byte(name), Time: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

// newEvents makes n events over a few keys, named prefix/key/number; numbers of
// a key grow.
func newEvents(topic, prefix string, n int) []event.Event {
	out := make([]event.Event, n)
	for i := range out {
		key := fmt.Sprint("k", i%7)
		out[i] = newEvent(topic, key, fmt.Sprintf("%s/%s/%06d", prefix, key, i))
	}
	return out
}

func appendAll(t *testing.T, c *bus.Client, evs ...event.Event) {
	t.Helper()
	if err := c.Append(t.Context(), evs...); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, c *bus.Client, topic string) []event.Event {
	t.Helper()
	var out []event.Event
	if err := c.Read(t.Context(), topic, nil, nil, func(ev event.Event) error { out = append(out, ev); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkOrder fails when events of one key are out of order, ignoring repeats:
// the first time a name is seen counts.
func checkOrder(t *testing.T, evs []event.Event) {
	t.Helper()
	last, seen := map[string]string{}, map[string]bool{}
	for _, ev := range evs {
		name := string(ev.Payload)
		if seen[name] {
			continue
		}
		seen[name] = true
		if name < last[ev.Key] {
			t.Fatalf("%s came after %s", name, last[ev.Key])
		}
		last[ev.Key] = name
	}
}

// nameSet is the names among the events.
func nameSet(evs []event.Event) map[string]int {
	out := map[string]int{}
	for _, ev := range evs {
		out[string(ev.Payload)]++
	}
	return out
}

// checkHas fails when an event of want is not among got.
func checkHas(t *testing.T, got, want []event.Event) {
	t.Helper()
	have := nameSet(got)
	for _, ev := range want {
		if have[string(ev.Payload)] == 0 {
			t.Fatalf("%s is missing; %d of %d are there", ev.Payload, len(have), len(want))
		}
	}
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
