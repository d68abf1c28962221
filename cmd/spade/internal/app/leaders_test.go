package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/consumers/coordinator"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// A leader that was stalled and does not know that another has taken over does what it would have done.
func TestTwoLeadersAtOnceGiveTheSameLog(t *testing.T) {
	l := small(t, plugin(t))
	l.Run.Name = "two leaders"
	want := play(t, l, servers(t, t.TempDir()))

	at := servers(t, t.TempDir())
	run := submit(t, l, at)
	s := &staff{t: t, at: at}
	fires := []func(){
		s.hire(l, RoleMemory, ""), s.hire(l, RoleWarehouse, ""), s.hire(l, RoleScorer, ""), s.hire(l, RoleDesigner, ""), s.hire(l, RoleRollout, ""),
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	var leading sync.WaitGroup
	for range 2 {
		services, err := Open(t.Context(), l, at, log)
		must(t, err)
		must(t, services.openMemory(t.Context()))
		w := &Worker{Services: services, Config: l, Role: RoleTrainer}
		c := newCrew(services, run)
		must(t, w.equip(t.Context(), t.Context(), c))
		leading.Go(func() {
			if err := c.newLeader().lead(t.Context()); err != nil {
				t.Errorf("lead: %v", err)
			}
			must(t, c.giveBack(context.WithoutCancel(t.Context())))
			must(t, services.Close(context.WithoutCancel(t.Context())))
		})
	}
	leading.Wait()
	got := play(t, l, at)
	for _, fire := range fires {
		fire()
	}
	s.work.Wait()
	if got.LogDigest != want.LogDigest || got.Events != want.Events {
		t.Errorf("one leader: digest %s of %d events; two: %s of %d", want.LogDigest, want.Events, got.LogDigest, got.Events)
	}
}

// drifting is a learner that never trains to the same state twice, as one on a GPU may.
type drifting struct {
	t     *testing.T
	mu    sync.Mutex // guards the following
	state []byte
	used  map[int64][]byte // the state that it trained from, by version
}

func (d *drifting) Name() (name, version string) { return "drifting", "1" }

func (d *drifting) Begin(context.Context) (trainer.Update, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drift(0), nil
}

func (d *drifting) Train(_ context.Context, from int64, _ []arrow.Record) (trainer.Update, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[from] = d.state
	return d.drift(from + 1), nil
}

func (d *drifting) drift(to int64) trainer.Update {
	d.state = fmt.Appendf(nil, "%d: %d", to, rand.Uint64())
	return trainer.Update{Version: to, Checkpoint: d.state, Format: "drifting", Roles: []string{"agent"}}
}

func (d *drifting) Restore(_ context.Context, updates []*spadepb.PolicyUpdated) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = updates[len(updates)-1].GetCheckpoint().GetInline()
	return nil
}

// Of several updates from one version the first in the log counts, also for the leader whose own came later.
func TestLeadersTrainFromWhatTheLogHolds(t *testing.T) {
	const iterations = 12
	at := servers(t, t.TempDir())
	l := small(t, nil)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := Open(t.Context(), l, Endpoints{Kafka: at.Kafka}, log)
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	spec := runs.Spec{Name: "drifting", Seed: 1, Config: &spadepb.SemanticConfig{Iterations: iterations}}
	run, _, err := openRun(t.Context(), s.Bus, spec, "{}", "")
	must(t, err)

	var leading sync.WaitGroup
	learners := make([]*drifting, 3)
	for i := range learners {
		d := &drifting{t: t, used: map[int64][]byte{}}
		learners[i] = d
		set := trainer.Settings{Run: run, Learner: d, Source: observe.NewSource("trainer"), Allocator: memory.NewGoAllocator()}
		leader := &leader{
			run: run, bus: s.Bus, learner: d, board: &board{}, trainer: trainer.New(set),
			coord:     coordinator.New(coordinator.Settings{Run: run, Source: observe.NewSource("coordinator")}),
			evaluator: evaluator.New(evaluator.Settings{Run: run}),
		}
		leading.Go(func() {
			if err := leader.lead(t.Context()); err != nil {
				t.Errorf("lead: %v", err)
			}
		})
	}
	leading.Wait()

	winners, void := map[int64][]byte{}, 0
	must(t, s.Bus.Read(t.Context(), topics.Policies, nil, nil, func(ev event.Event) error {
		msg, err := ev.Message()
		if u, ok := msg.(*spadepb.PolicyUpdated); ok {
			if _, there := winners[u.GetPolicyTo()]; there {
				void++
			} else {
				winners[u.GetPolicyTo()] = u.GetCheckpoint().GetInline()
			}
		}
		return err
	}))
	if len(winners) != iterations+1 || void == 0 {
		t.Errorf("%d versions, %d void updates: the leaders never met", len(winners), void)
	}
	for i, d := range learners {
		for from, state := range d.used {
			if !bytes.Equal(state, winners[from]) {
				t.Errorf("leader %d trained from %q, version %d is %q", i, state, from, winners[from])
			}
		}
	}
}
