package rollout

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// held are workers that are opened once let is closed.
type held struct {
	Workers
	asked func()
	let   chan struct{}
}

func (h *held) Open(ctx context.Context, src gym.Source) (Worker, error) {
	h.asked()
	<-h.let
	return h.Workers.Open(ctx, src)
}

// designed is the design and the acceptance of the environment of a slot.
func designed(t *testing.T, run runs.Run, slot int) []event.Event {
	t.Helper()
	design, accepted := environment(run, gymtest.Counting)
	env := ids.Env(run.ID, 1, slot, 0)
	design.EnvId, accepted.EnvId, accepted.Slot = env[:], env[:], int32(slot)
	d, err := event.New(topics.EnvKey(run.ID, env), env, 0, design, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := event.New(topics.EnvKey(run.ID, env), env, 0, accepted, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []event.Event{d, a}
}

// A worker that leaves, or is joined by another, finishes what it plays, and nothing is played twice.
func TestAPartitionThatIsTakenAwayIsHandedBackAfterWhatIsPlayed(t *testing.T) {
	const designs, each = 3, 7
	run := runs.Run{ID: ids.Run("demo"), Seed: 5, Config: &spadepb.SemanticConfig{AgentTemperature: 1, Group: "seed"}}
	log := bustest.Open(t)
	client := log.Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(1)); err != nil {
		t.Fatal(err)
	}
	for slot := range designs {
		if err := client.Append(t.Context(), designed(t, run, slot)...); err != nil {
			t.Fatal(err)
		}
	}

	first, asked := context.WithCancel(t.Context())
	workers := &held{Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 2})}, asked: asked, let: make(chan struct{})}
	p := New(Settings{
		Run: run, Log: client, Policy: dice{}, Model: "dice", Source: observe.NewSource("test"), Workers: workers, AtOnce: 1,
	})
	stop := consumeRollouts(t, client, p)
	<-first.Done()
	time.AfterFunc(10*time.Millisecond, func() { close(workers.let) }) // once it has been told to stop
	stop()
	if got := episodesOf(t, client); len(got) != each {
		t.Errorf("%d episodes of the environment that was played, want %d", len(got), each)
	}
	if at, err := client.CommittedOffsets(t.Context(), "players", topics.Environments); err != nil || at[0] != 2 {
		t.Errorf("committed up to %d (%v), want 2: the first environment's design and acceptance", at[0], err)
	}

	stop = consumeRollouts(t, client, p)
	for deadline := time.Now().Add(time.Minute); len(episodesOf(t, client)) < designs*each && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	got := episodesOf(t, client)
	distinct := map[uuid.UUID]bool{}
	for _, id := range got {
		distinct[id] = true
	}
	if len(got) != designs*each || len(distinct) != len(got) {
		t.Errorf("%d episodes, %d of them distinct, want %d", len(got), len(distinct), designs*each)
	}
}

// consumeRollouts has p play until the returned function is called.
func consumeRollouts(t *testing.T, client *bus.Client, p *Player) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Consume(ctx, "players", []string{topics.Environments}, nil, p.Handler()) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// episodesOf are the episodes in the log.
func episodesOf(t *testing.T, client *bus.Client) (out []uuid.UUID) {
	t.Helper()
	if err := client.Read(t.Context(), topics.Rollouts, nil, nil, func(ev event.Event) error {
		out = append(out, ev.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
