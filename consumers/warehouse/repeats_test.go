package warehouse

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestTheFirstRecordOfAnIDWins: a producer that is retried leaves an event twice, and one that is broken leaves two payloads under one
// id. Whether the records come in one batch, in two, or to two writers, the first one's rows are there, once, and the others are
// counted.
func TestTheFirstRecordOfAnIDWins(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := &memoryLog{events: map[string][]event.Event{}, ends: map[string]int64{}}
	run, env := uuid.UUID(testID("run", 1)), uuid.UUID(testID("env", 1))
	put := func(payload string) {
		subject := uuid.UUID(testID("rollout", 1))
		ev, err := event.New(topics.EnvKey(run, env), subject, 0, &spadepb.RolloutCompleted{
			RunId: run[:], EnvId: env[:], RolloutId: subject[:], Arm: "plain", FinalObservation: payload, Steps: []*spadepb.Step{{Action: payload}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := l.ends[topics.Rollouts]
		ev.Partition, ev.Offset, ev.LastOffset, ev.Time = testPartition, at, at, time.Unix(1_700_000_000+at, 0)
		l.events[topics.Rollouts] = append(l.events[topics.Rollouts], ev)
		l.ends[topics.Rollouts] = at + 1
	}
	for _, payload := range []string{"first", "first", "second", "first", "third", "first"} {
		put(payload)
	}
	committed := map[string]int64{}
	deliver := func(s *Sink, cuts ...int64) {
		t.Helper()
		claim := newFakeClaim(t, l, committed)
		claim.topics = []string{topics.Rollouts}
		p, err := s.open(t.Context(), claim, Group, 1, testPartition)
		if err != nil {
			t.Fatal(err)
		}
		from := committed[topics.Rollouts]
		for _, to := range cuts {
			claim.delivered[topics.Rollouts] = to
			b := bus.Batch{Topic: topics.Rollouts, Partition: testPartition, Events: l.events[topics.Rollouts][from:to], Next: to, End: to}
			if err := p.Process(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if err := p.flushOlder(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			from = to
		}
	}
	first, second := firstWinsSink(t, conn), firstWinsSink(t, conn)
	deliver(first, 3, 4)
	deliver(second, 5, 6)
	for query, want := range map[string]string{
		"SELECT concat(toString(count()), ' ', any(final_observation)) FROM spade.rollouts": "1 first",
		"SELECT concat(toString(count()), ' ', any(action)) FROM spade.steps":               "1 first",
		"SELECT toString(max(next_offset)) FROM spade._offsets":                             "6",
	} {
		if got := olaptest.Value[string](t, conn, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if n := first.Stats().Repeats + second.Stats().Repeats; n != 5 {
		t.Errorf("%d repeats counted, want 5", n)
	}
}

func firstWinsSink(t *testing.T, conn olap.Conn) *Sink {
	t.Helper()
	return testSink(t, NewClickHouse(conn), memory.DefaultAllocator, func(r event.Record) { t.Errorf("dead letter of %d", r.Offset) })
}

// TestPoisonMovesOn: each kind of record that can never become rows is kept aside with its reason, once, and what comes after it is
// there.
func TestPoisonMovesOn(t *testing.T) {
	run, env := uuid.UUID(testID("run", 1)), uuid.UUID(testID("env", 1))
	key := topics.EnvKey(run, env)
	good := func(n int) event.Event {
		subject := uuid.UUID(testID("rollout", n))
		ev, err := event.New(key, subject, 0, &spadepb.RolloutDropped{RunId: run[:], EnvId: env[:], RolloutId: subject[:], Reason: "stale"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Time = time.Unix(1_700_000_000, 0)
		return ev
	}
	bad := map[string]func(*event.Event){
		"bytes that are no message":      func(e *event.Event) { e.Payload = []byte{0xff} },
		"a type that nobody knows":       func(e *event.Event) { e.Type = "spade.v1.Nonsense" },
		"a key of another environment":   func(e *event.Event) { e.Key = topics.EnvKey(run, uuid.UUID(testID("env", 2))) },
		"a time that no table can hold":  func(e *event.Event) { e.Time = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"an id that is not sixteen long": func(e *event.Event) { e.Payload = []byte{0x0a, 0x01, 0x01} },
	}
	var events []event.Event
	for _, spoil := range bad {
		ev := good(len(events))
		spoil(&ev)
		events = append(events, ev, good(100+len(events)))
	}
	reasons := map[int64]string{}
	store := newFakeStore(t, 100)
	s := testSink(t, store, memory.DefaultAllocator, nil)
	s.set.DeadLetter = func(_ context.Context, r event.Record, reason error) error {
		if reasons[r.Offset] != "" {
			return fmt.Errorf("%d twice", r.Offset)
		}
		reasons[r.Offset] = reason.Error()
		return nil
	}
	l := &memoryLog{events: map[string][]event.Event{}, ends: map[string]int64{}}
	for i := range events {
		events[i].Partition, events[i].Offset, events[i].LastOffset = testPartition, int64(i), int64(i)
	}
	l.events[topics.Rollouts], l.ends[topics.Rollouts] = events, int64(len(events))
	claim := newFakeClaim(t, l, map[string]int64{})
	claim.topics, claim.delivered[topics.Rollouts] = []string{topics.Rollouts}, int64(len(events))
	p, err := s.open(t.Context(), claim, Group, 1, testPartition)
	if err != nil {
		t.Fatal(err)
	}
	b := bus.Batch{Topic: topics.Rollouts, Partition: testPartition, Events: events, Next: int64(len(events)), End: int64(len(events))}
	if err := p.Process(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := p.Revoked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(reasons) != len(bad) || claim.committed[topics.Rollouts] != int64(len(events)) {
		t.Errorf("dead letters %v, committed %v of %d", reasons, claim.committed, len(events))
	}
	for at, reason := range reasons {
		if at%2 != 0 || strings.TrimSpace(reason) == "" {
			t.Errorf("dead letter of %d: %q", at, reason)
		}
	}
	if rows := store.content()["dropped_rollouts"]; len(rows) != len(bad) {
		t.Errorf("%d rows, want %d", len(rows), len(bad))
	}
}
