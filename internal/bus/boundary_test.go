package bus_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// dropped is an event that passes every check of its own.
func dropped(t *testing.T, n int) event.Event {
	t.Helper()
	run := ids.Run("one")
	env := ids.Env(run, 0, n, 0)
	id := ids.Rollout(env, ids.ArmPlain, 0, 0)
	ev, err := event.New(topics.EnvKey(run, env), id, 0, &spadepb.RolloutDropped{RunId: run[:], EnvId: env[:], RolloutId: id[:], Arm: ids.ArmPlain}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// A writer that spreads its records over the partitions as it likes would have an event twice, once in each of two.
func TestAnEventInAWrongPartitionIsNone(t *testing.T) {
	b, _ := setup(t)
	var mu sync.Mutex
	var letters []error
	c, err := bus.New(b.Config(), bus.Settings{DeadLetter: func(_ context.Context, _ event.Record, reason error) error {
		mu.Lock()
		defer mu.Unlock()
		letters = append(letters, reason)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	cl := franz(t, b)
	const n = 12
	for i := range n {
		ev := dropped(t, i)
		appendAll(t, c, ev)
		for p := range int32(testPartitions) { // and a copy in every partition
			records := raw(t, ev, 0)
			for _, r := range records {
				r.Partition = p
			}
			put(t, cl, records...)
		}
	}
	places := map[string]int32{}
	copies := 0
	for _, ev := range readAll(t, c, topics.Rollouts) {
		if at, again := places[ev.Key]; again && at != ev.Partition {
			t.Errorf("%s stands in partitions %d and %d", ev.Key, at, ev.Partition)
		}
		places[ev.Key] = ev.Partition
		copies++
	}
	if len(places) != n || copies != 2*n || c.Stats().Lost != (testPartitions-1)*n {
		t.Errorf("%d events in %d records, %d lost", len(places), copies, c.Stats().Lost)
	}
	recorded := 0
	for p := range int32(testPartitions) {
		asm := c.Assembler(topics.Rollouts)
		ends, err := c.HighWatermarks(t.Context(), topics.Rollouts)
		if err != nil {
			t.Fatal(err)
		}
		err = c.ReadRecords(t.Context(), topics.Rollouts, nil, map[int32]int64{p: ends[p]}, func(r event.Record) error {
			if ev, _ := asm.Add(r); ev != nil {
				recorded++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if recorded != copies {
		t.Errorf("of records %d events are made, of which readers see %d", recorded, copies)
	}
	var r recorder
	stop := consume(t, c, &r, nil, topics.Rollouts)
	eventually(t, "all are read", func() bool { return len(r.seen()) == 2*n })
	eventually(t, "the others are kept aside", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(letters) == (testPartitions-1)*n
	})
	mustStop(t, stop)
	for _, reason := range letters {
		if !errors.Is(reason, bus.ErrMisplaced) {
			t.Errorf("reason %v", reason)
		}
	}
}
