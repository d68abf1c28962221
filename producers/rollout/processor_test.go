package rollout

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

func testRun() runs.Run {
	return runs.Run{ID: ids.Run("demo"), Seed: 5, Config: &spadepb.SemanticConfig{AgentTemperature: 1, Group: "seed"}}
}

// player plays one environment at a time.
func player(run runs.Run, log *bus.Client, workers Workers) *Player {
	return New(Settings{
		Run: run, Log: log, Policy: dice{}, Model: "dice", Source: observe.NewSource("test"), Workers: workers, AtOnce: 1,
	})
}

// write appends events to topics of one partition.
func write(t *testing.T, client *bus.Client, events ...event.Event) {
	t.Helper()
	if err := client.EnsureTopics(t.Context(), topics.All(1)); err != nil {
		t.Fatal(err)
	}
	if err := client.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
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
	run := testRun()
	log := bustest.Open(t)
	cfg := log.Config()
	cfg.StopTimeout = time.Minute // what is played has its time, however busy the machine is
	client := log.ClientWith(t, cfg, bus.Settings{})
	for slot := range designs {
		write(t, client, designed(t, run, slot)...)
	}

	first, asked := context.WithCancel(t.Context())
	workers := &held{Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 2})}, asked: asked, let: make(chan struct{})}
	p := player(run, client, workers)
	defer p.Close()
	ask, stop := consumeAsked(t, client, p.Handler())
	<-first.Done()
	ask()
	close(workers.let)
	stop()
	if got := episodesOf(t, client); len(got) != each {
		t.Errorf("%d episodes of the environment that was played, want %d", len(got), each)
	}
	if at, err := client.CommittedOffsets(t.Context(), "players", topics.Environments); err != nil || at[0] != 2 {
		t.Errorf("committed up to %d (%v), want 2: the first environment's design and acceptance", at[0], err)
	}

	stop = consumeRollouts(t, client, p)
	eventually(t, "all are played", func() bool { return len(episodesOf(t, client)) >= designs*each })
	stop()
	got := episodesOf(t, client)
	if n := distinct(got); len(got) != designs*each || n != len(got) {
		t.Errorf("%d episodes, %d of them distinct, want %d", len(got), n, designs*each)
	}
}

func distinct(list []uuid.UUID) int {
	seen := map[uuid.UUID]bool{}
	for _, id := range list {
		seen[id] = true
	}
	return len(seen)
}

// A designer that was stalled writes its design once more, after another has done its work. No verdict comes to that one.
func TestADesignThatComesTwiceHoldsUpNothing(t *testing.T) {
	run := testRun()
	log := bustest.Open(t)
	client := log.Client(t)
	both := designed(t, run, 0)
	write(t, client, both[0], both[1], both[0])
	p := player(run, client, pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 2})})
	defer p.Close()
	stop := consumeRollouts(t, client, p)
	eventually(t, "all is committed", func() bool {
		at, err := client.CommittedOffsets(t.Context(), "players", topics.Environments)
		return err == nil && at[0] == 3
	})
	stop()
}

// A design without a verdict holds the commits, so what lies behind it comes again. Who has played that does not play it again.
func TestWhatWasPlayedIsNotPlayedAgain(t *testing.T) {
	run := testRun()
	log := bustest.Open(t)
	cfg := log.Config()
	cfg.StopTimeout = time.Minute // what is in the log is acknowledged in time, however busy the machine is
	client := log.ClientWith(t, cfg, bus.Settings{})
	open, both := designed(t, run, 1)[0], designed(t, run, 0)
	write(t, client, open, both[0], both[1])
	p := player(run, client, pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 2})})
	defer p.Close()
	stop := consumeRollouts(t, client, p)
	eventually(t, "it is played", func() bool { return len(episodesOf(t, client)) == 7 })
	stop()
	if at, err := client.CommittedOffsets(t.Context(), "players", topics.Environments); err != nil || at[0] != 0 {
		t.Errorf("committed up to %d (%v), want 0, where the open design is", at[0], err)
	}
	stop = consumeRollouts(t, client, p)
	write(t, client, designed(t, run, 1)[1])
	eventually(t, "all is committed", func() bool {
		at, err := client.CommittedOffsets(t.Context(), "players", topics.Environments)
		return err == nil && at[0] == 4
	})
	stop()
	if n := len(episodesOf(t, client)); n != 14 {
		t.Errorf("%d episodes of two environments, want 14", n)
	}
}

// passer is a process that takes partitions and plays nothing.
type passer struct{ claim *bus.Claim }

func (p passer) Process(ctx context.Context, _ bus.Batch) error {
	select {
	case <-p.claim.Ending():
	case <-ctx.Done():
	}
	return bus.ErrHandedBack
}
func (passer) Idle(context.Context) error    { return nil }
func (passer) Revoked(context.Context) error { return nil }
func (passer) Lost()                         {}

// What takes longer to play than a group waits goes on while another process comes and goes.
func TestAPlayOutlivesARebalance(t *testing.T) {
	run := testRun()
	log := bustest.Open(t)
	cfg := log.Config()
	cfg.RevokeTimeout = 50 * time.Millisecond
	client := log.ClientWith(t, cfg, bus.Settings{})
	write(t, client, designed(t, run, 0)...)
	var opened atomic.Int32
	first, asked := context.WithCancel(t.Context())
	workers := &held{
		Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 2})}, let: make(chan struct{}),
		asked: func() { opened.Add(1); asked() },
	}
	p := player(run, client, workers)
	defer p.Close()
	var rebalanced atomic.Bool
	again := func(played bool) { // is called when somebody is given the partition
		if !played || opened.Load() > 0 {
			rebalanced.Store(true)
		}
	}
	stop := consumeWith(t, client, bus.HandlerFunc(func(ctx context.Context, claim *bus.Claim) (bus.Processor, error) {
		again(true)
		return p.Handler().Assigned(ctx, claim)
	}))
	<-first.Done()

	joined, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		left <- log.Client(t).Consume(joined, "players", []string{topics.Environments}, nil, bus.HandlerFunc(
			func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
				again(false)
				return passer{claim}, nil
			}))
	}()
	eventually(t, "the group has settled anew", rebalanced.Load)
	leave()
	if err := <-left; err != nil {
		t.Error(err)
	}
	eventually(t, "it is waited for again", p.plays.attended)
	close(workers.let)
	eventually(t, "the episodes are there", func() bool { return len(episodesOf(t, client)) >= 7 })
	stop()
	// They may have been appended twice, where a partition was taken away before the acknowledgement.
	if n, distinct := opened.Load(), distinct(episodesOf(t, client)); n != 2 || distinct != 7 {
		t.Errorf("%d workers were opened for the two arms, and %d episodes are in the log", n, distinct)
	}
}

// A play that nobody takes up is broken off, and one that failed is begun anew.
func TestAPlayThatNobodyWaitsForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlays()
		env := ids.Env(ids.Run("demo"), 0, 0, 0)
		until := func(ctx context.Context) ([]event.Event, error) { <-ctx.Done(); return nil, ctx.Err() }
		one := p.start(t.Context(), env, 3, until)
		p.leave(env, one, time.Minute)
		time.Sleep(time.Minute / 2)
		if p.resume(env) != one {
			t.Error("it is forgotten before its time")
		}
		time.Sleep(time.Hour)
		if p.resume(env) != one {
			t.Error("it is forgotten while somebody waits")
		}
		p.leave(env, one, time.Minute)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if p.resume(env) != nil || !one.failed() {
			t.Error("it goes on for ever")
		}
		moved := p.start(t.Context(), env, 3, until)
		p.leave(env, moved, time.Hour)
		p.hold(3, 7)
		time.Sleep(2 * settleFor)
		if moved.failed() {
			t.Error("it ends although its partition came back")
		}
		p.hold(4, 8)
		time.Sleep(2 * settleFor)
		synctest.Wait()
		if !moved.failed() {
			t.Error("it goes on although its partition went to another process")
		}
		failed := p.start(t.Context(), env, 3, func(context.Context) ([]event.Event, error) { return nil, errors.New("no") })
		<-failed.done
		if p.resume(env) != nil {
			t.Error("a failure is taken for a play")
		}
		last := p.start(t.Context(), env, 3, until)
		p.close()
		late := p.start(t.Context(), env, 3, until)
		if <-late.done; !last.failed() || !late.failed() {
			t.Error("it outlives its player")
		}
	})
}

// attended reports whether somebody waits for every play.
func (p *plays) attended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.byEnv {
		if one.forget != nil {
			return false
		}
	}
	return true
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// consumeRollouts has p play until the returned function is called.
func consumeRollouts(t *testing.T, client *bus.Client, p *Player) (stop func()) {
	t.Helper()
	return consumeWith(t, client, p.Handler())
}

func consumeWith(t *testing.T, client *bus.Client, h bus.Handler) (stop func()) {
	t.Helper()
	_, stop = consumeAsked(t, client, h)
	return stop
}

// consumeAsked consumes until it is asked to end, which stop does as well, before it waits for the end.
func consumeAsked(t *testing.T, client *bus.Client, h bus.Handler) (ask, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Consume(ctx, "players", []string{topics.Environments}, nil, h) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return cancel, stop
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
