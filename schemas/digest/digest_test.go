package digest

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func events(t *testing.T, run uuid.UUID) []event.Event {
	t.Helper()
	var all []event.Event
	for slot := range 5 {
		env := ids.Env(run, 0, slot, 0)
		key := topics.EnvKey(run, env)
		for _, msg := range []*spadepb.DesignRequested{{RunId: run[:], EnvId: env[:], Slot: int32(slot)}} {
			ev, err := event.New(key, env, 0, msg, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ev)
		}
	}
	return all
}

func sum(run uuid.UUID, all []event.Event) string {
	l := New(run)
	for _, ev := range all {
		l.Add(ev)
	}
	s := l.Sum()
	return hex.EncodeToString(s[:])
}

func TestArrivalDoesNotShow(t *testing.T) {
	run := ids.Run("demo")
	all := events(t, run)
	want := sum(run, all)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		shuffled := append(slices.Clone(all), all[random.IntN(len(all))])
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := sum(run, shuffled); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestEveryPartShows(t *testing.T) {
	run := ids.Run("demo")
	all := events(t, run)
	want := sum(run, all)
	for name, change := range map[string]func(*event.Event){
		"topic":   func(e *event.Event) { e.Topic = topics.Regrets },
		"key":     func(e *event.Event) { e.Key += "x" },
		"type":    func(e *event.Event) { e.Type = "spade.v1.Other" },
		"id":      func(e *event.Event) { e.ID = uuid.New() },
		"payload": func(e *event.Event) { e.Payload = append(slices.Clone(e.Payload), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			changed := slices.Clone(all)
			change(&changed[2])
			if sum(run, changed) == want {
				t.Error("the digest does not tell")
			}
		})
	}
}

func TestOtherRunsAndObservationsDoNotShow(t *testing.T) {
	run := ids.Run("demo")
	all := events(t, run)
	want := sum(run, all)
	resumed, err := event.New(topics.RunKey(run), run, 9, &spadepb.RunResumed{RunId: run[:]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	more := append(slices.Concat(events(t, ids.Run("other")), all), resumed)
	more[len(more)-2].Observed = &spadepb.Observed{Host: "elsewhere"}
	if got := sum(run, more); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheFirstRecordOfAnEventWins(t *testing.T) {
	run := ids.Run("demo")
	all := events(t, run)
	second := all[1]
	second.Payload = append(slices.Clone(second.Payload), 0)
	l := New(run)
	for _, ev := range append(slices.Clone(all), second) {
		l.Add(ev)
	}
	if got, want := l.Sum(), sum(run, all); hex.EncodeToString(got[:]) != want {
		t.Error("the later record counts")
	}
	if r := l.Repeats(); len(r) != 1 || r[0].ID != second.ID {
		t.Errorf("repeats %v", r)
	}
}

// TestLookingBetweenChangesNothing: events may be added after the digest was asked for.
func TestLookingBetweenChangesNothing(t *testing.T) {
	run := ids.Run("demo")
	all := events(t, run)
	second := all[0]
	second.Payload = append(slices.Clone(second.Payload), 0)
	l := New(run)
	for i, ev := range all {
		l.Add(ev)
		if n := l.Len(); n != i+1 {
			t.Fatalf("%d events after %d", n, i+1)
		}
	}
	l.Add(second)
	if got, want := l.Sum(), sum(run, all); hex.EncodeToString(got[:]) != want || len(l.Repeats()) != 1 || l.Len() != len(all) {
		t.Errorf("%x of %d events with %d repeats, want %s", got, l.Len(), len(l.Repeats()), want)
	}
}
