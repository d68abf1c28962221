package bus_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

// lookAt sums up where the client stands in the test's group.
func lookAt(t *testing.T, c *bus.Client) (g bus.Group, lag int64, oldest time.Time) {
	t.Helper()
	groups, err := c.Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range groups {
		if got.Name != group {
			continue
		}
		g = got
		for _, p := range g.Places {
			lag += p.Lag()
			if !p.Oldest.IsZero() && (oldest.IsZero() || p.Oldest.Before(oldest)) {
				oldest = p.Oldest
			}
		}
	}
	return g, lag, oldest
}

func TestGroupsTellTheLagAndTheOldestRecordThatIsNotDurable(t *testing.T) {
	_, c := setup(t)
	held := make(chan struct{})
	r := &recorder{process: func(cl *bus.Claim, b bus.Batch) error {
		<-held
		return cl.Commit(b.Topic, b.Next)
	}}
	evs := newEvents(topic, "a", 40)
	appendAll(t, c, evs...)
	stop := consume(t, c, r, nil, topic)
	eventually(t, "records are delivered", func() bool { return len(r.seen()) == len(evs) })
	g, lag, oldest := lookAt(t, c)
	if !g.Joined || len(g.Places) != testPartitions {
		t.Errorf("joined %v with %d places, want %d", g.Joined, len(g.Places), testPartitions)
	}
	if lag != int64(len(evs)) || !oldest.Equal(evs[0].Time) {
		t.Errorf("lag %d, oldest %s; want %d and %s", lag, oldest, len(evs), evs[0].Time)
	}
	busy := slices.ContainsFunc(g.Places, func(p bus.Place) bool { return !p.Busy.IsZero() })
	if !busy {
		t.Error("no call is told to be under way")
	}
	appendAll(t, c, newEvents(topic, "b", 7)...) // nobody has fetched these
	if _, lag, _ := lookAt(t, c); lag != 47 {
		t.Errorf("lag %d after 7 more records, want 47", lag)
	}
	close(held)
	eventually(t, "all is durable", func() bool {
		_, lag, oldest := lookAt(t, c)
		return lag == 0 && oldest.IsZero()
	})
	mustStop(t, stop)
	if g, _, _ := lookAt(t, c); g.Name != "" {
		t.Errorf("a group that is not consumed any more is told of: %+v", g)
	}
}

func TestAMemberWithoutPartitionsStandsBy(t *testing.T) {
	b, first := setup(t)
	consume(t, first, &recorder{}, nil, topic)
	eventually(t, "the first has all", func() bool { g, _, _ := lookAt(t, first); return len(g.Places) == testPartitions })
	for range testPartitions {
		consume(t, b.Client(t), &recorder{}, nil, topic)
	}
	eventually(t, "one stands by", func() bool {
		g, _, _ := lookAt(t, first)
		return g.Joined && len(g.Places) <= 1
	})
}

func TestTheTapSeesWhatWasAcknowledgedOnly(t *testing.T) {
	_, c := setup(t)
	var seen []event.Event
	c.OnAppend(func(evs []event.Event) { seen = append(seen, evs...) })
	evs := newEvents(topic, "a", 3)
	big := evs[1]
	big.Payload = make([]byte, 65<<20)
	if err := c.Append(t.Context(), evs[0], big, evs[2]); err == nil {
		t.Fatal("an event of 65 MiB was accepted")
	}
	if got := slices.Collect(func(yield func(string) bool) {
		for _, ev := range seen {
			if !yield(string(ev.Payload)) {
				return
			}
		}
	}); !slices.Equal(got, []string{string(evs[0].Payload), string(evs[2].Payload)}) {
		t.Errorf("the tap saw %v", got)
	}
	if n := c.Stats().AppendTime.Count; n != 1 {
		t.Errorf("%d appends were timed, want 1", n)
	}
}
