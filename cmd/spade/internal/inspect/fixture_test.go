package inspect_test

import (
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// The ids of what the fixture holds.
var (
	run      = ids.Run("first")
	env      = ids.Env(run, 0, 1, 0)
	refused  = ids.Env(run, 0, 0, 0)
	plain    = ids.Rollout(env, ids.ArmPlain, 0, 0)
	hinted   = ids.Rollout(env, ids.ArmHinted, 0, 0)
	document = ids.Document([]byte("one"))
	onPool   = ids.Run("on a pool")
	drawn    = ids.Env(onPool, 0, 0, 0)
)

// fixture is a small run with one accepted and one refused environment, and one that drew an environment from a pool.
func fixture() []subject {
	return []subject{
		{document, &spadepb.DocumentIngested{
			DocumentId: document[:], ParentId: document[:], Chunks: 1, Source: "a.md", Title: "On sorting", Text: "A sort orders\nthings.",
			Sha256: make([]byte, 32),
		}},
		{run, &spadepb.RunStarted{RunId: run[:], Name: "first", Seed: 7, Config: &spadepb.SemanticConfig{Iterations: 1}, Kind: "train"}},
		{refused, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: refused[:], Runtime: "starlark", Code: "x = ("}},
		{refused, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: refused[:], Stage: "parse", Reason: "got end of file", LastAttempt: true}},
		{env, &spadepb.EnvironmentDesigned{
			RunId: run[:], EnvId: env[:], Slot: 1, Runtime: "starlark", Code: "META = {}\nx = \"\x1b[2J\"\n", CodeSha256: make([]byte, 32),
			Documents: []*spadepb.Attribution{{DocumentId: document[:], Score: 0.25}},
		}},
		{env, &spadepb.EnvironmentAccepted{RunId: run[:], EnvId: env[:], Slot: 1, Title: "Sort\x1b[2J it", Kind: "reasoning", MaxSteps: 4, Novelty: 1}},
		{plain, episode(plain, ids.ArmPlain, 0, "failed")},
		{hinted, episode(hinted, ids.ArmHinted, 1, "solved")},
		{env, &spadepb.RegretEstimated{
			RunId: run[:], EnvId: env[:], Chosen: "hint_gap", NHinted: 1, NPlain: 1,
			Estimates: []*spadepb.Estimate{{Estimator: "hint_gap", Value: 1, Available: true}, {Estimator: "learnability"}},
		}},
		{env, &spadepb.DesignerRewarded{RunId: run[:], EnvId: env[:], Reward: 0.75, RegretPart: 1, GuardPart: -0.25, Measured: true}},
		{onPool, &spadepb.RunStarted{
			RunId: onPool[:], Name: "on a pool", Config: &spadepb.SemanticConfig{Designer: "fixed:gymnasium", Runtime: "starlark"}, Kind: "train",
		}},
		{drawn, &spadepb.EnvironmentDesigned{
			RunId: onPool[:], EnvId: drawn[:], Runtime: "python", Name: "Taxi-v3", PoolEnvId: refused[:],
		}},
	}
}

func episode(id uuid.UUID, arm string, reward float64, outcome string) *spadepb.RolloutCompleted {
	m := &spadepb.RolloutCompleted{
		RunId: run[:], RolloutId: id[:], EnvId: env[:], Arm: arm, EnvSeed: 11, TotalReward: reward, Outcome: outcome,
		FinalObservation: "done", Steps: []*spadepb.Step{{Observation: "3 1 2\nsort!", Action: "1 2 3\x07", Reward: reward}},
	}
	if arm == ids.ArmHinted {
		m.Hint = "begin with\n1"
	}
	return m
}

type subject struct {
	id  uuid.UUID
	msg proto.Message
}

// key is the key that the log has for the event.
func (s subject) key() string {
	type part interface {
		GetRunId() []byte
		GetEnvId() []byte
	}
	if m, ok := s.msg.(part); ok {
		return topics.EnvKey(uuid.UUID(m.GetRunId()), uuid.UUID(m.GetEnvId()))
	}
	return s.id.String()
}

// install writes the fixture into a warehouse.
func install(t *testing.T, conn olap.Conn) {
	t.Helper()
	catalogue, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	store := warehouse.NewClickHouse(conn)
	var places []warehouse.Place
	for _, topic := range topics.All(1) {
		places = append(places, warehouse.Place{Topic: topic.Name})
	}
	writer := warehouse.Writer{Token: 1}
	if err := store.Claim(t.Context(), places, writer); err != nil {
		t.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, catalogue, 1)
	defer set.Release()
	for i, s := range fixture() {
		ev, err := event.New(s.key(), s.id, 0, s.msg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Offset, ev.LastOffset, ev.Time = int64(i), int64(i), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := set.Append(&ev, s.msg); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range set.Blocks() {
		if err := store.Insert(t.Context(), b.Table, "fixture:"+b.Table.Name, b.Record); err != nil {
			t.Fatal(err)
		}
		b.Record.Release()
	}
}
