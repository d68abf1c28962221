package warehouse

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestTwoSinks: two processes share the partitions, one of them goes in the middle, and comes back.
func TestTwoSinks(t *testing.T) {
	const partitions = 4
	broker := bustest.Open(t)
	_, conn := olaptest.Start(t)
	first, second := broker.Client(t), broker.Client(t)
	if err := first.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	events := everyKind(t, 40)
	half := len(events) / 2
	stays := busSink(t, first, NewClickHouse(conn), partitions)
	run(t, stays, func() {
		run(t, busSink(t, second, NewClickHouse(conn), partitions), func() {
			if err := first.Append(t.Context(), events[:half]...); err != nil {
				t.Fatal(err)
			}
			if err := stays.WaitFor(t.Context(), ends(t, first)); err != nil {
				t.Fatal(err)
			}
			if err := first.Append(t.Context(), events[half:]...); err != nil {
				t.Fatal(err)
			}
		})
		for range 2 { // the poison's dead letter is appended meanwhile
			if err := stays.WaitFor(t.Context(), ends(t, first)); err != nil {
				t.Fatal(err)
			}
		}
	})
	wantLog(t, conn, first, topicNames())
}

func TestLifecycle(t *testing.T) {
	const partitions = 2
	broker := bustest.Open(t)
	client := broker.Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	store := newFakeStore(t, 10)
	t.Run("cancelled before it runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := busSink(t, client, store, partitions).Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Run("run twice", func(t *testing.T) {
		s := busSink(t, client, store, partitions)
		for i := range 2 {
			if err := client.Append(t.Context(), everyKind(t, 2)[i]); err != nil {
				t.Fatal(err)
			}
			run(t, s, func() {
				if err := s.WaitFor(t.Context(), ends(t, client)); err != nil {
					t.Error(err)
				}
			})
		}
	})
	t.Run("waiting too long says for what", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := busSink(t, client, store, partitions).WaitFor(ctx, bus.Positions{topics.Rollouts: {1: 9}, topics.Regrets: {0: 5, 1: 0}})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 partitions are behind, the first is spade.regrets/0 before offset 5") {
			t.Error(err)
		}
	})
	t.Run("a warehouse of another log", func(t *testing.T) {
		p := Place{topics.Rollouts, 1}
		w := Writer{Group: Group, Token: 5}
		if err := errors.Join(store.Claim(t.Context(), []Place{p}, w), store.Finish(t.Context(), p, w, 1000)); err != nil {
			t.Fatal(err)
		}
		err := busSink(t, client, store, partitions).Run(t.Context())
		if !errors.Is(err, ErrOtherLog) || !strings.Contains(err.Error(), "spade.rollouts/1") {
			t.Error(err)
		}
		drain := busSink(t, client, store, partitions).Drain(t.Context(), bus.Positions{topics.Rollouts: {0: 5}})
		if !errors.Is(drain, ErrOtherLog) {
			t.Error(drain)
		}
	})
	t.Run("no tables", func(t *testing.T) {
		_, conn := olaptest.Start(t)
		if err := conn.Exec(t.Context(), "DROP TABLE spade."+tables.OffsetsTable); err != nil {
			t.Fatal(err)
		}
		err := busSink(t, client, NewClickHouse(conn), partitions).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), tables.OffsetsTable) {
			t.Error(err)
		}
	})
}
