package telemetry

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestACallThatHangsIsSeenByTheCountersThatMove: a partition's call hangs, while its records go on coming, and with them all
// that a real client counts. That is no sign of life; another partition whose records are processed is.
func TestACallThatHangsIsSeenByTheCountersThatMove(t *testing.T) {
	b := bustest.Start(t)
	from, c := b.Client(t), b.Client(t) // another process appends, so that appending is no life of this one
	if err := from.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	put := func(partition int32) {
		t.Helper()
		for i := byte(0); ; i++ {
			key := uuid.NewSHA1(uuid.Nil, []byte{i}).String()
			if at, err := from.PartitionOf(t.Context(), topics.Rollouts, []byte(key)); err != nil {
				t.Fatal(err)
			} else if at != partition {
				continue
			}
			ev := event.Event{Topic: topics.Rollouts, Key: key, Type: "t", ID: uuid.New(), Payload: []byte("p"), Time: time.Now()}
			if err := from.Append(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	hung := &hanging{let: make(chan struct{})}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(hung.let)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	wg.Go(func() {
		if err := c.Consume(ctx, "spade.rollout.r", []string{topics.Rollouts}, nil, hung); err != nil {
			t.Error(err)
		}
	})

	clock := &clock{time.Now()}
	p := New(Config{}, Settings{Now: clock.Now})
	p.Add(logSampler(c))
	p.health.watch()
	put(0)
	eventually(t, "a call is under way", func() bool {
		groups, err := c.Groups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			for _, place := range g.Places {
				if !place.Busy.IsZero() {
					return true
				}
			}
		}
		return false
	})
	look := func(what string, stuck bool) {
		t.Helper()
		p.look(t.Context(), c)
		if why := p.health.notLive(clock.now); (len(why) > 0) != stuck {
			t.Errorf("%s: not live because of %q", what, why)
		}
	}
	look("it has just begun", false)
	fetched, commits := c.Stats().Fetched, c.Stats().Commits
	put(0)
	eventually(t, "the client counts", func() bool { return c.Stats().Fetched > fetched })
	clock.now = clock.now.Add(Stuck + time.Minute)
	look("only fetches are counted", true)
	put(1)
	eventually(t, "the other partition gets on", func() bool { return c.Stats().Commits > commits })
	look("another partition is worked on", false)
}

// hanging works on partition 0 when it is let to, and on the others at once.
type hanging struct{ let chan struct{} }

// Assigned implements bus.Handler.
func (h *hanging) Assigned(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
	return &worker{claim, h.let}, nil
}

type worker struct {
	claim *bus.Claim
	let   chan struct{}
}

func (w *worker) Process(_ context.Context, b bus.Batch) error {
	if w.claim.Partition == 0 {
		<-w.let
	}
	return w.claim.Commit(b.Topic, b.Next)
}
func (*worker) Idle(context.Context) error    { return nil }
func (*worker) Revoked(context.Context) error { return nil }
func (*worker) Lost()                         {}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
