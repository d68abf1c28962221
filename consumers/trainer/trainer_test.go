package trainer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestAdvantages(t *testing.T) {
	rewards := []float64{1, 0, 0, 0}
	std1 := math.Sqrt(0.75 / 3)
	for name, tc := range map[string]struct {
		ddof int
		want float64 // of the first
	}{
		GRPO:   {1, 0.75 / (std1 + 0.5)},
		DrGRPO: {1, 0.75},
		RLOO:   {1, 1},
		MaxRL:  {1, 1}, // mean .25, eps .5
	} {
		got, signal, err := advantages(name, rewards, 0.5, tc.ddof)
		if err != nil || !signal || math.Abs(got[0]-tc.want) > 1e-12 {
			t.Errorf("%s: got %v, %v, %v; want %g first", name, got, signal, err, tc.want)
		}
	}
	grpo0, _, _ := advantages(GRPO, rewards, 0, 0)
	if want := 0.75 / math.Sqrt(0.75/4); math.Abs(grpo0[0]-want) > 1e-12 {
		t.Errorf("ddof 0: got %g, want %g", grpo0[0], want)
	}
}

func TestGroupsWithoutSignal(t *testing.T) {
	for _, rewards := range [][]float64{nil, {1}, {0.1, 0.1, 0.1}} {
		got, signal, err := advantages(GRPO, rewards, 0, 1)
		if err != nil || signal || slices.ContainsFunc(got, func(a float64) bool { return a != 0 }) {
			t.Errorf("%v: got %v, %v, %v", rewards, got, signal, err)
		}
	}
	if _, _, err := advantages("strange", []float64{0, 1}, 0, 1); !errors.Is(err, ErrUnknownEstimator) {
		t.Errorf("error %v", err)
	}
}

// learner counts the rows it is given.
type learner struct {
	rows  int64
	bytes int // of the checkpoint
}

func (l *learner) Name() (string, string) { return "test", "1" }

func (l *learner) Begin(context.Context) (Update, error) {
	return Update{Version: 0, Checkpoint: make([]byte, l.bytes), Format: "zeros"}, nil
}

func (l *learner) Train(_ context.Context, from int64, records []arrow.Record) (Update, error) {
	l.rows = 0
	for _, r := range records {
		l.rows += r.NumRows()
	}
	metrics := []*spadepb.Metric{{Name: "rows", Value: float64(l.rows)}, {Name: "loss"}}
	return Update{Version: from + 1, Checkpoint: make([]byte, l.bytes), Metrics: metrics}, nil
}

func testTrainer(t *testing.T, l Learner) *Trainer {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return New(Settings{
		Run: runs.Run{ID: ids.Run("demo"), Config: &spadepb.SemanticConfig{
			Designer: DesignerPolicy, Advantage: GRPO, AdvantageEps: 1e-6, AdvantageDdof: 1, Group: "seed",
		}},
		Learner: l, Source: observe.NewSource("test"), Allocator: mem,
	})
}

// iterationLog is a closed iteration of two environments: two seeds, two repeats, plain and hinted.
func iterationLog(run runs.Run) []proto.Message {
	var all []proto.Message
	n := int32(0)
	for slot := range 2 {
		env := ids.Env(run.ID, 0, slot, 0)
		group := ids.DesignGroup(run.ID, 0)
		all = append(all,
			&spadepb.EnvironmentDesigned{
				EnvId: env[:], Slot: int32(slot), DesignGroup: group[:], Code: "x", TokenIds: []int32{1, 2},
			},
			&spadepb.DesignerRewarded{EnvId: env[:], Slot: int32(slot), Reward: float64(slot)},
		)
		for i, arm := range []string{ids.ArmPlain, ids.ArmHinted} {
			for s := range 2 {
				for r := range 2 {
					id, g := ids.Rollout(env, arm, s, r), ids.Group(env, arm, s)
					e := &spadepb.RolloutCompleted{
						EnvId: env[:], RolloutId: id[:], GroupId: g[:], Arm: arm, SeedIndex: int32(s), Repeat: int32(r),
						// The second seed's group has no signal.
						TotalReward: float64(r * (1 - s)), Outcome: outcome.Failed,
						Steps: []*spadepb.Step{
							{Observation: "a", InfoJson: `{"actions":["l","r"]}`, Action: "l", TokenIds: []int32{0}, Logprobs: []float32{-1}},
							{Observation: "b", Action: fmt.Sprint(i)},
						},
					}
					all = append(all, e)
					n++
				}
			}
		}
	}
	return append(all, &spadepb.IterationClosed{Designed: 2, RolloutsCompleted: n})
}

func train(t *testing.T, tr *Trainer, messages []proto.Message) []event.Event {
	t.Helper()
	tr.Add(&spadepb.PolicyUpdated{PolicyFrom: -1, PolicyTo: 0, Iteration: -1})
	var out []event.Event
	for _, m := range messages {
		tr.Add(m)
		events, err := tr.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, events...)
		if events != nil {
			tr.Add(message(t, events[len(events)-1]))
		}
	}
	return out
}

func message(t *testing.T, ev event.Event) proto.Message {
	t.Helper()
	msg, err := ev.Message()
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func TestOnlyPlainGroupsWithASignalTrainTheAgent(t *testing.T) {
	l := &learner{}
	tr := testTrainer(t, l)
	events := train(t, tr, iterationLog(tr.Run))
	if len(events) != 3 {
		t.Fatalf("%d events, want two batches and an update", len(events))
	}
	agent := message(t, events[0]).(*spadepb.BatchBuilt)
	// Two environments, of whose two seed groups one has a signal: two episodes of two steps each.
	if agent.GetRows() != 8 || agent.GetGroups() != 4 || agent.GetGroupsWithoutSignal() != 2 || len(agent.GetAdvantages()) != 8 {
		t.Errorf("agent batch %v", agent)
	}
	designer := message(t, events[1]).(*spadepb.BatchBuilt)
	if designer.GetRows() != 2 || designer.GetGroups() != 1 || designer.GetGroupsWithoutSignal() != 0 {
		t.Errorf("designer batch %v", designer)
	}
	if l.rows != 10 {
		t.Errorf("the learner got %d rows", l.rows)
	}
	updated := message(t, events[2]).(*spadepb.PolicyUpdated)
	if updated.GetPolicyTo() != 1 || updated.GetMetrics()[0].GetName() != "loss" || len(updated.GetBatchIds()) != 2 {
		t.Errorf("update %v", updated)
	}
}

func TestAUniformDesignerDoesNotLearn(t *testing.T) {
	l := &learner{}
	tr := testTrainer(t, l)
	tr.Run.Config.Designer = "uniform"
	events := train(t, tr, iterationLog(tr.Run))
	if len(events) != 2 || l.rows != 8 {
		t.Errorf("%d events, %d rows, want the agent's batch and an update", len(events), l.rows)
	}
}

// MaxRL divides by the mean, which the designer's pay can have below zero: it is paid by the difference instead.
func TestABetterDesignHasTheBetterAdvantage(t *testing.T) {
	for _, estimator := range Estimators() {
		tr := testTrainer(t, &learner{})
		tr.Run.Config.Advantage = estimator
		messages := iterationLog(tr.Run)
		for _, m := range messages {
			if pay, ok := m.(*spadepb.DesignerRewarded); ok {
				pay.Reward -= 2
			}
		}
		designer := message(t, train(t, tr, messages)[1]).(*spadepb.BatchBuilt)
		worse, better := designer.GetAdvantages()[0], designer.GetAdvantages()[1]
		if worse.GetReward() >= better.GetReward() || worse.GetAdvantage() >= better.GetAdvantage() {
			t.Errorf("%s: advantages %v and %v", estimator, worse, better)
		}
	}
}

func TestHintedEpisodesTrainOnlyWhenAskedAndInTheirOwnGroups(t *testing.T) {
	l := &learner{}
	tr := testTrainer(t, l)
	tr.Run.Config.TrainHinted = true
	agent := message(t, train(t, tr, iterationLog(tr.Run))[0]).(*spadepb.BatchBuilt)
	if agent.GetGroups() != 8 || agent.GetRows() != 16 {
		t.Errorf("agent batch of %d groups and %d rows", agent.GetGroups(), agent.GetRows())
	}
}

func TestAnyOrderTrainsOnTheSameRows(t *testing.T) {
	want := train(t, testTrainer(t, &learner{}), iterationLog(testTrainer(t, &learner{}).Run))
	random := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		tr := testTrainer(t, &learner{})
		messages := iterationLog(tr.Run)
		random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		got := train(t, tr, messages)
		if !slices.EqualFunc(got, want, func(a, b event.Event) bool { return a.ID == b.ID && bytes.Equal(a.Payload, b.Payload) }) {
			t.Fatal("another order gives other batches")
		}
	}
}

func TestAnEpisodeThatWasDroppedTrainsNobody(t *testing.T) {
	id := func(n byte) []byte { return append(make([]byte, 15), n) }
	it := newIteration()
	for _, m := range []proto.Message{
		&spadepb.RolloutCompleted{RolloutId: id(1)}, &spadepb.RolloutDropped{RolloutId: id(1)},
		&spadepb.RolloutDropped{RolloutId: id(2)}, &spadepb.RolloutCompleted{RolloutId: id(2)},
	} {
		it.add(m)
	}
	if len(it.rollouts) != 1 || it.rollouts[uuid.UUID(id(1))] == nil {
		t.Errorf("episodes %v; want the one that was completed before it was dropped", it.rollouts)
	}
}

func TestTheFirstUpdateOfAVersionCounts(t *testing.T) {
	tr := testTrainer(t, &learner{})
	tr.Add(&spadepb.PolicyUpdated{PolicyFrom: -1, PolicyTo: 0, Trainer: "first"})
	tr.Add(&spadepb.PolicyUpdated{PolicyFrom: -1, PolicyTo: 0, Trainer: "second"})
	if got := tr.Latest().GetTrainer(); got != "first" {
		t.Errorf("latest is of the %s", got)
	}
}

func TestStatesThatNobodyAsksForAreLetGo(t *testing.T) {
	tr := testTrainer(t, &learner{})
	tr.Run.Config.MaxPolicyLag = 1
	for v := range int64(6) {
		tr.Add(&spadepb.PolicyUpdated{PolicyFrom: v - 1, PolicyTo: v, Checkpoint: &spadepb.Checkpoint{Inline: []byte{1}}})
	}
	for i, u := range tr.Recent(6) {
		if kept := len(u.GetCheckpoint().GetInline()) > 0; kept != (i >= 4) {
			t.Errorf("version %d: its state is kept: %v", u.GetPolicyTo(), kept)
		}
	}
}

// store keeps checkpoints in memory.
type store map[[sha256.Size]byte][]byte

func (s store) Save(_ context.Context, sum [sha256.Size]byte, state []byte) (string, error) {
	s[sum] = state
	return "memory:", nil
}

func TestLargeCheckpointsLiveOutsideTheLog(t *testing.T) {
	tr := testTrainer(t, &learner{bytes: maxInline + 1})
	if _, err := tr.Step(t.Context()); err == nil {
		t.Fatal("a checkpoint over the limit and nowhere to keep it: want an error")
	}
	kept := store{}
	tr.Checkpoints = kept
	events, err := tr.Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ck := message(t, events[0]).(*spadepb.PolicyUpdated).GetCheckpoint()
	if ck.GetInline() != nil || len(kept[[sha256.Size]byte(ck.GetSha256())]) != maxInline+1 {
		t.Errorf("checkpoint %v", ck)
	}
	if got := events[0].Observed.GetCheckpointUri(); got != "memory:" {
		t.Errorf("the event says that the checkpoint lies at %q", got)
	}
}
