package olaptest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// StoryRun is the run that Story tells of.
func StoryRun() uuid.UUID { return ids.Run("story") }

// Story is the events of a small finished run: two iterations of two designs, one of which is refused, with two episodes per
// arm, regrets, pay, training and an evaluation before and after. It is the same every time.
func Story(tb testing.TB) []event.Event {
	tb.Helper()
	return tell(tb).events
}

func tell(tb testing.TB) *story {
	tb.Helper()
	s := &story{tb: tb, run: StoryRun(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.begin()
	for k := range 2 {
		s.iteration(k)
	}
	s.evaluation(2, 0.75)
	s.add(topics.RunKey(s.run), s.run, &spadepb.RunFinished{
		RunId: s.run[:], Status: "finished", Iterations: 2, Designed: 4, Accepted: 2, Rejected: 2, Rollouts: 8, Steps: 16,
		FirstRegret: 0.5, LastRegret: 0.25, FirstRewardPlain: 0.25, LastRewardPlain: 0.5, PolicyVersion: 2,
	})
	s.add("spade.rollouts/3", s.run, &spadepb.DeadLetter{
		Topic: topics.Rollouts, Partition: 3, Offset: 7, Error: "decode: malformed record", Payload: []byte{0xff}, Consumer: "warehouse",
	})
	return s
}

type story struct {
	tb     testing.TB
	run    uuid.UUID
	now    time.Time
	events []event.Event
	offset map[string]int64
}

func (s *story) add(key string, subject uuid.UUID, msg proto.Message) {
	s.tb.Helper()
	ev, err := event.New(key, subject, 0, msg, &spadepb.Observed{
		Worker: "story", SandboxTier: "full", Build: "v1", DurationUs: 1500, Device: "cpu",
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	if s.offset == nil {
		s.offset = map[string]int64{}
	}
	s.now = s.now.Add(time.Second)
	ev.Time, ev.Offset, ev.LastOffset = s.now, s.offset[ev.Topic], s.offset[ev.Topic]
	s.offset[ev.Topic]++
	s.events = append(s.events, ev)
}

func (s *story) document() uuid.UUID { return ids.Document([]byte("one")) }

func (s *story) begin() {
	d := s.document()
	s.add(d.String(), d, &spadepb.DocumentIngested{
		DocumentId: d[:], ParentId: d[:], Chunks: 1, Source: "a.md", Title: "On doors", Text: "A door has two sides.", Sha256: []byte{1, 2},
	})
	s.add(d.String(), d, &spadepb.EmbeddingComputed{
		EntityId: d[:], EntityKind: tables.EntityDocument, Model: "story-2", Dim: 2, Vector: []float32{1, 0},
	})
	s.add(topics.RunKey(s.run), s.run, &spadepb.RunStarted{
		RunId: s.run[:], Name: "story", Seed: 7, Kind: "train", Config: &spadepb.SemanticConfig{Iterations: 2, Designs: 2, Estimator: "hint_gap"},
	})
	s.add(topics.RunKey(s.run), s.run, &spadepb.RunResumed{RunId: s.run[:], Ordinal: 1})
	s.update(-1)
	s.evaluation(0, 0.25)
}

func (s *story) update(from int64) {
	m := &spadepb.PolicyUpdated{
		RunId: s.run[:], PolicyFrom: from, PolicyTo: from + 1, Iteration: int32(from), Roles: []string{"agent", "designer"}, Trainer: "native",
		TrainerVersion: "1", Metrics: []*spadepb.Metric{{Name: "entropy", Value: 0.5}, {Name: "reward_mean", Value: 0.25}},
		Checkpoint: &spadepb.Checkpoint{Sha256: []byte{3, 4}, Bytes: 100},
	}
	if from >= 0 {
		batch := ids.Batch(s.run, int(from), "agent")
		m.BatchIds = [][]byte{batch[:]}
	}
	s.add(topics.RunKey(s.run), ids.Policy(s.run, from), m)
}

func (s *story) evaluation(version int64, reward float64) {
	for i, category := range []string{"math", "games"} {
		id := ids.Evaluation(s.run, version, "held-out", category, i)
		s.add(topics.RunKey(s.run), id, &spadepb.EvaluationCompleted{
			RunId: s.run[:], EvaluationId: id[:], PolicyVersion: version, Suite: "held-out", TaskId: category + "-1", Category: category,
			Kind: "reasoning", Reward: reward, Success: reward > 0.5, Outcome: "failed", Steps: 2,
		})
	}
}

func (s *story) iteration(k int) {
	refused, env := ids.Env(s.run, k, 0, 0), ids.Env(s.run, k, 1, 0)
	group := ids.DesignGroup(s.run, k)
	for slot, id := range []uuid.UUID{refused, env} {
		key := topics.EnvKey(s.run, id)
		s.add(key, id, &spadepb.DesignRequested{
			RunId: s.run[:], EnvId: id[:], Iteration: int32(k), Slot: int32(slot), PolicyVersion: int64(k), DesignGroup: group[:], ExpectedDesigns: 2,
		})
		document := s.document()
		s.add(key, id, &spadepb.EnvironmentDesigned{
			RunId: s.run[:], EnvId: id[:], Iteration: int32(k), Slot: int32(slot), DesignGroup: group[:], PolicyVersion: int64(k),
			Runtime: "starlark", Code: fmt.Sprintf("META = {\"title\": \"doors %d\"}\n", k), CodeSha256: []byte{byte(k)}, PromptTokens: 10, CompletionTokens: 20,
			Prompt:    []*spadepb.ChatMessage{{Role: "user", Content: "Design."}},
			Documents: []*spadepb.Attribution{{DocumentId: document[:], Score: 0.5}},
		})
	}
	s.add(topics.EnvKey(s.run, refused), refused, &spadepb.EnvironmentRejected{
		RunId: s.run[:], EnvId: refused[:], Iteration: int32(k), Stage: "load", Reason: "undefined: rgn", LastAttempt: true, PolicyVersion: int64(k),
	})
	accepted := &spadepb.EnvironmentAccepted{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(k), Slot: 1, Title: fmt.Sprint("Doors ", k), Kind: []string{"reasoning", "tools"}[k],
		MaxSteps: 4, Novelty: 1 - 0.5*float64(k), ExpectedPlain: 2, ExpectedHinted: 2, Repeats: 2, EmbeddingModel: "story-2", PolicyVersion: int64(k),
	}
	if k > 0 {
		near := ids.Env(s.run, k-1, 1, 0)
		accepted.NearestEnvId, accepted.NearestSimilarity = near[:], 0.5
		accepted.Nearest = []*spadepb.Neighbour{{EnvId: near[:], Similarity: 0.5}}
	}
	s.add(topics.EnvKey(s.run, env), env, accepted)
	s.episodes(k, env)
	s.credit(k, env)
}

func (s *story) episodes(k int, env uuid.UUID) {
	for _, arm := range []string{ids.ArmPlain, ids.ArmHinted} {
		for repeat := range 2 {
			id, group := ids.Rollout(env, arm, 0, repeat), ids.Group(env, arm, 0)
			m := &spadepb.RolloutCompleted{
				RunId: s.run[:], RolloutId: id[:], EnvId: env[:], Iteration: int32(k), Arm: arm, EnvSeed: 11, Repeat: int32(repeat), GroupId: group[:],
				PolicyVersion: int64(k), TotalReward: 0.25, HasVerify: true, VerifyScore: 0.25, Outcome: "failed", StopReason: "terminated", Terminated: true,
				FinalObservation: "The door is shut.", Model: "native", Steps: []*spadepb.Step{
					{Observation: "A door.", Action: "knock", InfoJson: `{"actions":["knock","open"]}`, Logprob: -0.5},
					{Observation: "Somebody answers.", Action: "open", ToolName: "open", Reward: 0.25, Terminated: true, Logprob: -0.25},
				},
			}
			if arm == ids.ArmHinted {
				m.TotalReward, m.VerifyScore, m.Outcome, m.Hint = 0.75, 0.75, "solved", "Open it."
			}
			s.add(topics.EnvKey(s.run, env), id, m)
		}
	}
	dropped := ids.Rollout(env, ids.ArmPlain, 0, 9)
	s.add(topics.EnvKey(s.run, env), dropped, &spadepb.RolloutDropped{RunId: s.run[:], RolloutId: dropped[:], EnvId: env[:], Reason: "stale"})
}

func (s *story) credit(k int, env uuid.UUID) {
	key := topics.EnvKey(s.run, env)
	s.add(key, env, &spadepb.RegretEstimated{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(k), PolicyVersion: int64(k), Chosen: "hint_gap", NHinted: 2, NPlain: 2,
		RewardHinted: 0.75, RewardPlain: 0.25, SuccessHinted: 1, Learnability: 0.1875, Guarded: k == 1, HiddenShare: float64(k),
		Estimates: []*spadepb.Estimate{
			{Estimator: "hint_gap", Value: 0.5, Stderr: 0.125, Available: true},
			{Estimator: "paired_hint_gap", Value: 0.5, Stderr: 0.125, NPairs: 2, Available: true},
		},
	})
	s.add(key, env, &spadepb.DesignerRewarded{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(k), PolicyVersion: int64(k), Reward: 0.75, RegretPart: 0.5, ValidityPart: 0.25,
		Weights: []*spadepb.Weight{{Name: "regret", Value: 1}}, Measured: true,
	})
	batch := ids.Batch(s.run, k, "agent")
	m := &spadepb.BatchBuilt{
		RunId: s.run[:], BatchId: batch[:], Iteration: int32(k), Role: "agent", PolicyVersion: int64(k), Estimator: "grpo", Eps: 0.001, Rows: 4, Groups: 2,
	}
	for repeat := range 2 {
		id, group := ids.Rollout(env, ids.ArmPlain, 0, repeat), ids.Group(env, ids.ArmPlain, 0)
		m.Advantages = append(m.Advantages, &spadepb.Advantage{SubjectId: id[:], EnvId: env[:], GroupId: group[:], Reward: 0.25, Advantage: 0.5})
	}
	s.add(topics.RunKey(s.run), batch, m)
	s.update(int64(k))
	s.add(topics.RunKey(s.run), ids.Iteration(s.run, k), &spadepb.IterationClosed{
		RunId: s.run[:], Iteration: int32(k), Designed: 2, Accepted: 1, Rejected: 1, RolloutsCompleted: 4, RolloutsDropped: 1, RegretsEstimated: 1,
		PolicyVersion: int64(k), Steps: 8, RewardPlain: 0.25, RewardHinted: 0.75, Regret: 0.5, UnlearnableGapShare: float64(k),
	})
	s.add(key, ids.Rollout(env, ids.ArmPlain, 0, 0), &spadepb.ReplayChecked{
		RunId: s.run[:], EnvId: env[:], RolloutId: m.GetAdvantages()[0].GetSubjectId(), Equal: true, FirstDivergentStep: -1,
	})
}

// Fill inserts events into a warehouse whose partitions nobody has claimed.
func Fill(tb testing.TB, conn olap.Conn, events []event.Event) {
	tb.Helper()
	catalogue, err := tables.New()
	if err != nil {
		tb.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, catalogue, 0)
	defer set.Release()
	for i := range events {
		msg, err := events[i].Message()
		if err != nil {
			tb.Fatal(err)
		}
		if err := set.Append(&events[i], msg); err != nil {
			tb.Fatal(err)
		}
	}
	for _, b := range set.Blocks() {
		var body bytes.Buffer
		w := ipc.NewWriter(&body, ipc.WithSchema(b.Record.Schema()))
		if err := w.Write(b.Record); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		b.Record.Release()
		into := fmt.Sprintf("INSERT INTO %s.%s (%s)", tables.Database, b.Table.Name, strings.Join(b.Table.Inserted(), ", "))
		if err := conn.InsertFormat(tb.Context(), "ArrowStream", into, &body); err != nil {
			tb.Fatalf("%s: %v", b.Table.Name, err)
		}
	}
}
