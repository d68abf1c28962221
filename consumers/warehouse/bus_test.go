package warehouse

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// busSink is a sink on the embedded broker.
func busSink(t testing.TB, client *bus.Client, store Store, partitions int) *Sink {
	t.Helper()
	letters := &deadletter.Writer{Log: client, Source: observe.NewSource("warehouse"), Consumer: "warehouse"}
	s, err := New(Config{}, Settings{
		Log: client, Store: store, Topics: topics.All(partitions), DeadLetter: letters.Record,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func topicNames() []string {
	var names []string
	for _, t := range topics.All(1) {
		names = append(names, t.Name)
	}
	return names
}

// ends is where the log ends now.
func ends(t testing.TB, client *bus.Client) bus.Positions {
	t.Helper()
	out := bus.Positions{}
	for _, name := range topicNames() {
		at, err := client.HighWatermarks(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = at
	}
	return out
}

// everyKind is one event of each type about the same environment, in n copies with ids of their own.
func everyKind(t testing.TB, n int) []event.Event {
	t.Helper()
	var out []event.Event
	run := uuid.UUID(testID("run", 1))
	for i := range n {
		env := uuid.UUID(testID("env", i))
		r, e, subject := run[:], env[:], testID("subject", i)
		add := func(key string, msg proto.Message) {
			ev, err := event.New(key, uuid.UUID(subject), 0, msg, &spadepb.Observed{Worker: "w", DurationUs: 2500, Build: "b"})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, ev)
		}
		runKey, envKey := topics.RunKey(run), topics.EnvKey(run, env)
		add(runKey, &spadepb.RunStarted{RunId: r, Name: "n", Config: &spadepb.SemanticConfig{Iterations: 3}})
		add(runKey, &spadepb.RunResumed{RunId: r})
		add(runKey, &spadepb.IterationClosed{RunId: r, Iteration: int32(i)})
		add(runKey, &spadepb.RunFinished{RunId: r, Status: "finished"})
		add(uuid.UUID(subject).String(), &spadepb.DocumentIngested{DocumentId: subject, Text: "text"})
		add(envKey, &spadepb.EmbeddingComputed{EntityId: e, EntityKind: "environment", RunId: r, Dim: 2, Vector: []float32{1, 2}})
		add(envKey, &spadepb.DesignRequested{RunId: r, EnvId: e})
		add(envKey, makeFullDesign(r, e))
		add(envKey, &spadepb.EnvironmentAccepted{RunId: r, EnvId: e, Title: "T", Kind: "game", Novelty: 1, Stats: []*spadepb.Stat{{Name: "s", Value: 2}}})
		add(envKey, &spadepb.RolloutCompleted{RunId: r, EnvId: e, RolloutId: subject, Arm: "plain", Steps: []*spadepb.Step{{Action: "a\x00b"}, {Action: "c"}}})
		add(envKey, &spadepb.RolloutDropped{RunId: r, EnvId: e, RolloutId: subject, Reason: "stale"})
		add(envKey, &spadepb.RegretEstimated{RunId: r, EnvId: e, Chosen: "hint_gap", Estimates: []*spadepb.Estimate{{Estimator: "hint_gap", Value: 0.5, Available: true}}})
		add(envKey, &spadepb.RegretUnavailable{RunId: r, EnvId: e, Reason: "few"})
		add(envKey, &spadepb.DesignerRewarded{RunId: r, EnvId: e, Reward: 1, Weights: []*spadepb.Weight{{Name: "regret", Value: 1}}})
		add(runKey, &spadepb.BatchBuilt{RunId: r, BatchId: subject, Role: "agent", Advantages: []*spadepb.Advantage{{SubjectId: subject, EnvId: e}}})
		add(runKey, &spadepb.PolicyUpdated{RunId: r, PolicyFrom: int64(i / 2), PolicyTo: int64(i/2 + 1), BatchIds: [][]byte{subject}})
		add(runKey, &spadepb.EvaluationCompleted{RunId: r, EvaluationId: subject, Suite: "math", Milestones: []string{"m"}})
		add(envKey, &spadepb.ReplayChecked{RunId: r, EnvId: e, RolloutId: subject, Equal: true, FirstDivergentStep: -1})
	}
	out = append(out, event.Event{
		Topic: topics.Rollouts, Key: topics.EnvKey(run, run), Type: "spade.v1.RolloutCompleted", ID: uuid.New(),
		Payload: []byte{0xff}, Time: time.Now(),
	})
	return out
}

func makeFullDesign(run, env []byte) *spadepb.EnvironmentDesigned {
	return &spadepb.EnvironmentDesigned{
		RunId: run, EnvId: env, Runtime: "starlark", Code: strings.Repeat("# code\n", 40), PolicyVersion: 1, MemoryVersion: 2,
		Prompt:    []*spadepb.ChatMessage{{Role: "user", Content: "design"}},
		Documents: []*spadepb.Attribution{{DocumentId: run}},
		Recalled:  []*spadepb.Neighbour{{EnvId: run, Similarity: 0.25}},
	}
}

// TestEndToEnd: events of every type go through the embedded broker into the embedded ClickHouse, twice over, with a sink that
// is stopped in between, and a poison record.
func TestEndToEnd(t *testing.T) {
	const partitions = 3
	broker := bustest.Open(t)
	client := broker.Client(t)
	_, conn := olaptest.Start(t)
	if err := client.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	events := everyKind(t, 20)
	half := len(events) / 2
	if err := client.Append(t.Context(), events[:half]...); err != nil {
		t.Fatal(err)
	}
	first := busSink(t, client, NewClickHouse(conn), partitions)
	if err := first.Drain(t.Context(), ends(t, client)); err != nil {
		t.Fatal(err)
	}
	if err := client.Append(t.Context(), append(events[half/2:], events[:half]...)...); err != nil {
		t.Fatal(err)
	}
	second := busSink(t, client, NewClickHouse(conn), partitions)
	run(t, second, func() {
		if err := second.WaitFor(t.Context(), ends(t, client)); err != nil {
			t.Fatal(err)
		}
		// The poison record left a dead letter, which is waited for in turn.
		if err := second.WaitFor(t.Context(), ends(t, client)); err != nil {
			t.Fatal(err)
		}
	})
	wantLog(t, conn, client, topicNames())
	if s := second.Stats(); s.Repeats == 0 || s.DeadLetters != 1 {
		t.Errorf("stats %+v", s)
	}
	checkNames(t, conn)
}

// run runs a sink while fn does something.
func run(t testing.TB, s *Sink, fn func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	fn()
}

// checkNames asks the names that users query: each has rows, and each id is there once.
func checkNames(t *testing.T, conn olap.Conn) {
	t.Helper()
	for name, id := range map[string]string{
		"runs": "run_id", "documents": "document_id", "environments": "env_id", "environment_documents": "(env_id, rank)",
		"neighbours": "(env_id, used_for, rank)", "embeddings": "(entity_id, model)", "rollouts": "rollout_id",
		"dropped_rollouts": "rollout_id", "steps": "(rollout_id, step)", "regrets": "(env_id, estimator)",
		"designer_rewards": "env_id", "batches": "batch_id", "advantages": "(batch_id, rollout_id)", "policies": "event_id",
		"evaluations": "event_id", "replay_checks": "event_id", "dead_letters": "(topic, partition, offset)",
		"iterations": "iteration", "design_requests": "env_id",
	} {
		rows := olaptest.Value[uint64](t, conn, "SELECT count() FROM spade."+name)
		distinct := olaptest.Value[uint64](t, conn, "SELECT uniqExact("+id+") FROM spade."+name)
		if rows == 0 || rows != distinct {
			t.Errorf("%s: %d rows, %d ids", name, rows, distinct)
		}
	}
	for query, want := range map[string]string{
		"SELECT status FROM spade.runs":                                                           "finished",
		"SELECT any(status) FROM spade.environments":                                              "accepted",
		"SELECT any(title) FROM spade.environments WHERE code != '' AND design_ms = 2.5":          "T",
		"SELECT toString(countIf(void)) FROM spade.policies":                                      "10",
		"SELECT toString(countIf(memory_version IS NULL)) FROM spade.neighbours":                  "0",
		"SELECT any(action) FROM spade.steps WHERE step = 0":                                      "a\x00b",
		"SELECT toString(any(weights['regret'])) FROM spade.designer_rewards":                     "1",
		"SELECT JSONExtractString(any(prompt), 1, 'content') FROM spade.environments":             "design",
		"SELECT toString(any(vector)) FROM spade.embeddings":                                      "[1,2]",
		"SELECT topic FROM spade.dead_letters WHERE payload = unhex('ff')":                        "spade.rollouts",
		"SELECT toString(JSONExtractInt(config, 'iterations')) FROM spade.runs":                   "3",
		"SELECT toString(finished_at >= started_at) FROM spade.runs":                              "1",
		"SELECT toString(countIf(ingested_at < event_time - INTERVAL 1 SECOND)) FROM spade.steps": "0",
	} {
		if got := olaptest.Value[string](t, conn, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	_, err := New(Config{FlushBytes: 1 << 40, FlushIdle: -1, Parallel: -1}, Settings{})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"times", "flush size", "parallel", "required", "no topics"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not mention %q", err, part)
		}
	}
}
