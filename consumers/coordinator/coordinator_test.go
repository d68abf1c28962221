package coordinator

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// world is a log and the other roles of a run, answering in an order that random chooses.
type world struct {
	t      *testing.T
	run    runs.Run
	random *rand.Rand
	log    []event.Event
	queue  []event.Event // in the log, and not yet seen by the coordinator
}

func newWorld(t *testing.T, seed uint64, config *spadepb.SemanticConfig) *world {
	run := runs.Run{ID: ids.Run("demo"), Config: config}
	w := &world{t: t, run: run, random: rand.New(rand.NewPCG(seed, 1))}
	w.emit(topics.RunKey(run.ID), ids.Policy(run.ID, -1), &spadepb.PolicyUpdated{RunId: run.ID[:], PolicyFrom: -1, Iteration: -1})
	return w
}

func (w *world) emit(key string, subject uuid.UUID, msg proto.Message) {
	ev, err := event.New(key, subject, 0, msg, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.append(ev)
}

// append logs an event, lets the roles answer it, and puts all of it at random places of the queue.
func (w *world) append(ev event.Event) {
	w.log = append(w.log, ev)
	w.queue = slices.Insert(w.queue, w.random.IntN(len(w.queue)+1), ev)
	msg, err := ev.Message()
	if err != nil {
		w.t.Fatal(err)
	}
	switch m := msg.(type) {
	case *spadepb.DesignRequested:
		w.design(m)
	case *spadepb.IterationClosed:
		k := int64(m.GetIteration())
		w.emit(topics.RunKey(w.run.ID), ids.Policy(w.run.ID, k), &spadepb.PolicyUpdated{
			RunId: w.run.ID[:], PolicyFrom: k, PolicyTo: k + 1, Iteration: m.GetIteration(),
		})
	}
}

// design answers a request: every third slot is rejected, the others play one episode an arm.
func (w *world) design(req *spadepb.DesignRequested) {
	env := uuid.UUID(req.GetEnvId())
	key := topics.EnvKey(w.run.ID, env)
	k, slot := req.GetIteration(), req.GetSlot()
	id := req.GetEnvId()
	w.emit(key, env, &spadepb.EnvironmentDesigned{RunId: req.GetRunId(), EnvId: id, Iteration: k, Slot: slot})
	if slot%3 == 2 {
		w.emit(key, env, &spadepb.EnvironmentRejected{RunId: req.GetRunId(), EnvId: id, Iteration: k, Slot: slot, LastAttempt: true})
	} else {
		w.emit(key, env, &spadepb.EnvironmentAccepted{
			RunId: req.GetRunId(), EnvId: id, Iteration: k, Slot: slot, ExpectedPlain: 1, ExpectedHinted: 1,
		})
		for i, arm := range []string{ids.ArmPlain, ids.ArmHinted} {
			r := ids.Rollout(env, arm, 0, 0)
			w.emit(key, r, &spadepb.RolloutCompleted{
				RunId: req.GetRunId(), EnvId: id, RolloutId: r[:], Iteration: k, Arm: arm,
				TotalReward: 0.1 + float64(i)/3 + float64(slot)/7, Outcome: outcome.Failed, Steps: make([]*spadepb.Step, 2),
			})
		}
		w.emit(key, env, &spadepb.RegretEstimated{
			RunId: req.GetRunId(), EnvId: id, Iteration: k, Chosen: "hint_gap",
			Estimates: []*spadepb.Estimate{{Estimator: "hint_gap", Value: 0.1 / float64(3+slot+7*k)}}, Guarded: slot == 0,
		})
	}
	w.emit(key, env, &spadepb.DesignerRewarded{RunId: req.GetRunId(), EnvId: id, Iteration: k, Slot: slot})
}

// play runs a run to its end. With crashes, the coordinator is replaced now and then by one that reads the log anew.
func (w *world) play(crashes bool) *spadepb.RunFinished {
	c := New(Settings{Run: w.run, Source: observe.NewSource("test")})
	for steps := 0; c.Finished() == nil; steps++ {
		if steps > 10_000 {
			w.t.Fatal("the run does not end")
		}
		if crashes && w.random.IntN(20) == 0 {
			c = New(Settings{Run: w.run, Source: observe.NewSource("test")})
			w.queue = nil
			for _, ev := range w.log {
				w.fold(c, ev)
			}
		}
		events, err := c.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		for i, ev := range events {
			// A crash in the middle of appending: only a part gets into the log.
			if crashes && i > 0 && w.random.IntN(10) == 0 {
				c = New(Settings{Run: w.run, Source: observe.NewSource("test")})
				w.queue = nil
				for _, ev := range w.log {
					w.fold(c, ev)
				}
				break
			}
			w.append(ev)
		}
		if len(w.queue) > 0 {
			w.fold(c, w.queue[0])
			w.queue = w.queue[1:]
		}
	}
	return c.Finished()
}

func (w *world) fold(c *Coordinator, ev event.Event) {
	msg, err := ev.Message()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Add(msg); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) digest() [32]byte {
	d := digest.New(w.run.ID)
	for _, ev := range w.log {
		d.Add(ev)
	}
	if r := d.Repeats(); len(r) > 0 {
		w.t.Fatalf("%d events were made twice with different payloads", len(r))
	}
	return d.Sum()
}

func config(lag int32) *spadepb.SemanticConfig {
	return &spadepb.SemanticConfig{Iterations: 4, Designs: 5, EnvSeeds: 1, Repeats: 1, MaxPolicyLag: lag}
}

func TestARunEndsWithTheSameLogWhateverTheOrder(t *testing.T) {
	for _, lag := range []int32{0, 1, 3} {
		want := newWorld(t, 0, config(lag))
		finished := want.play(false)
		if finished.GetDesigned() != 20 || finished.GetAccepted() != 16 || finished.GetRejected() != 4 ||
			finished.GetRollouts() != 32 || finished.GetSteps() != 64 {
			t.Fatalf("finished with %v", finished)
		}
		for seed := range uint64(40) {
			w := newWorld(t, seed, config(lag))
			w.play(seed%2 == 1)
			if w.digest() != want.digest() {
				t.Fatalf("lag %d, order %d: another digest", lag, seed)
			}
		}
	}
}

func TestOnPolicyWaitsForItsVersion(t *testing.T) {
	c := New(Settings{Run: runs.Run{ID: ids.Run("demo"), Config: config(0)}, Source: observe.NewSource("test")})
	if events, err := c.Next(); err != nil || events != nil {
		t.Fatalf("asked for designs before there is a policy: %v, %v", events, err)
	}
	if err := c.Add(&spadepb.PolicyUpdated{PolicyFrom: -1}); err != nil {
		t.Fatal(err)
	}
	events, err := c.Next()
	if err != nil || len(events) != 5 {
		t.Fatalf("%d requests, %v", len(events), err)
	}
	if again, err := c.Next(); err != nil || again != nil {
		t.Fatalf("asked again: %v, %v", again, err)
	}
}

// A version is there when updates lead to it one by one, in whatever order they are read.
func TestAnUpdateThatJumpsIsNoVersion(t *testing.T) {
	c := New(Settings{Run: runs.Run{ID: ids.Run("demo"), Config: config(0)}, Source: observe.NewSource("test")})
	for _, s := range []struct{ from, to, want int64 }{
		{-1, 1_000_000, -1}, {1, 2, -1}, {-1, 0, 0}, {-1, 0, 0}, {0, 7, 0}, {0, 1, 2}, {5, 6, 2},
	} {
		if err := c.Add(&spadepb.PolicyUpdated{PolicyFrom: s.from, PolicyTo: s.to}); err != nil {
			t.Fatal(err)
		}
		if c.Version() != s.want {
			t.Errorf("after %d to %d: version %d, want %d", s.from, s.to, c.Version(), s.want)
		}
	}
}

// What one worker played and another one dropped is one episode, by the first record.
func TestAnEpisodeThatIsCompletedAndDroppedCountsOnce(t *testing.T) {
	id := func(n byte) []byte { return append(make([]byte, 15), n) }
	it := newIteration(1)
	for _, m := range []proto.Message{
		&spadepb.RolloutCompleted{RolloutId: id(1)}, &spadepb.RolloutDropped{RolloutId: id(1)},
		&spadepb.RolloutDropped{RolloutId: id(2)}, &spadepb.RolloutCompleted{RolloutId: id(2)},
	} {
		it.add(m)
	}
	if _, _, done := it.progress(); done != 2 || len(it.rollouts) != 1 || len(it.dropped) != 1 {
		t.Errorf("%d episodes: %d played, %d dropped", done, len(it.rollouts), len(it.dropped))
	}
}

func TestOnlyMissingSlotsAreAskedFor(t *testing.T) {
	c := New(Settings{Run: runs.Run{ID: ids.Run("demo"), Config: config(0)}, Source: observe.NewSource("test")})
	for _, m := range []proto.Message{&spadepb.PolicyUpdated{PolicyFrom: -1}, &spadepb.DesignRequested{Slot: 2}, &spadepb.DesignRequested{Slot: 99}} {
		if err := c.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	events, err := c.Next()
	if err != nil || len(events) != 4 {
		t.Fatalf("%d requests, %v; want the four that nobody asked for", len(events), err)
	}
}

func TestAnIterationOutOfRangeIsTold(t *testing.T) {
	c := New(Settings{Run: runs.Run{ID: ids.Run("demo"), Config: config(0)}, Source: observe.NewSource("test")})
	for _, k := range []int32{-1, 4} {
		if err := c.Add(&spadepb.DesignRequested{Iteration: k}); !errors.Is(err, event.ErrMalformed) {
			t.Errorf("iteration %d: error %v", k, err)
		}
	}
}

func TestAnIterationWithoutAnAcceptedDesignNamesItsVersion(t *testing.T) {
	run := runs.Run{ID: ids.Run("demo"), Config: config(0)}
	run.Config.Designs = 1
	c := New(Settings{Run: run, Source: observe.NewSource("test")})
	env := ids.Env(run.ID, 2, 0, 0)
	for _, m := range []proto.Message{
		&spadepb.DesignRequested{EnvId: env[:], Iteration: 2},
		&spadepb.EnvironmentDesigned{EnvId: env[:], Iteration: 2},
		&spadepb.EnvironmentRejected{EnvId: env[:], Iteration: 2, LastAttempt: true},
		&spadepb.DesignerRewarded{EnvId: env[:], Iteration: 2},
	} {
		if err := c.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	events, err := c.Next()
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v; want that the iteration is closed", len(events), err)
	}
	msg, err := events[0].Message()
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := msg.(*spadepb.IterationClosed); !ok || m.GetPolicyVersion() != 2 {
		t.Errorf("%v; want policy version 2", msg)
	}
}

func TestTheFirstClosingOfAnIterationCounts(t *testing.T) {
	c := New(Settings{Run: runs.Run{ID: ids.Run("demo"), Config: config(0)}, Source: observe.NewSource("test")})
	for _, steps := range []int64{3, 5} {
		if err := c.Add(&spadepb.IterationClosed{Iteration: 1, Steps: steps}); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.iterations[1].summary.GetSteps(); got != 3 {
		t.Errorf("%d steps; want those of the first record", got)
	}
}

func TestTheUnlearnableShareCountsGuardedGaps(t *testing.T) {
	w := newWorld(t, 0, config(0))
	w.play(false)
	for _, ev := range w.log {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := msg.(*spadepb.IterationClosed); ok && m.GetUnlearnableGapShare() != 0.25 {
			t.Errorf("iteration %d: share %g, want one of four", m.GetIteration(), m.GetUnlearnableGapShare())
		}
	}
}

func TestEvaluationsAreWaitedFor(t *testing.T) {
	run := runs.Run{ID: ids.Run("demo"), Config: config(0)}
	run.Config.Suites = []string{"development@00"}
	run.Config.EvalEvery = 3
	if got := EvaluatedVersions(run); !slices.Equal(got, []int64{0, 3, 4}) {
		t.Fatalf("versions %v", got)
	}
	c := New(Settings{Run: run, Source: observe.NewSource("test"), Episodes: 1})
	if !c.NeedsEvaluation(3) || c.NeedsEvaluation(2) {
		t.Error("version 3 is evaluated, version 2 is not")
	}
	id := ids.Evaluation(run.ID, 3, "development", "x", 0)
	if err := c.Add(&spadepb.EvaluationCompleted{EvaluationId: id[:], PolicyVersion: 3}); err != nil {
		t.Fatal(err)
	}
	if c.NeedsEvaluation(3) {
		t.Error("version 3 has all its episodes")
	}
}

func TestASlotWhoseRequestIsLostIsAskedForAgainOnce(t *testing.T) {
	run := runs.Run{ID: ids.Run("demo"), Config: &spadepb.SemanticConfig{Iterations: 1, Designs: 3}}
	c := New(Settings{Run: run, Source: observe.NewSource("test")})
	if err := c.Add(&spadepb.PolicyUpdated{PolicyFrom: -1}); err != nil {
		t.Fatal(err)
	}
	next := func() []event.Event {
		t.Helper()
		events, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	first := next()
	if len(first) != 3 || len(next()) != 0 {
		t.Fatalf("%d requests", len(first))
	}
	c.Lost("some other key")
	c.Lost(first[1].Key)
	again := next()
	if len(again) != 1 || again[0].ID != first[1].ID || string(again[0].Payload) != string(first[1].Payload) {
		t.Errorf("asked again: %v", again)
	}
	c.Lost(first[1].Key)
	env := ids.Env(run.ID, 0, 2, 0)
	if err := c.Add(&spadepb.EnvironmentRejected{EnvId: env[:], Slot: 2, LastAttempt: true}); err != nil {
		t.Fatal(err)
	}
	c.Lost(first[2].Key)
	if again := next(); len(again) != 0 {
		t.Errorf("asked once more, or for a slot that has ended: %v", again)
	}
}
