package evaluator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

type memoryLog struct {
	mu     sync.Mutex
	events []event.Event
}

func (l *memoryLog) Append(_ context.Context, events ...event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, events...)
	return nil
}

// first always takes the first legal action.
type first struct{}

func (first) Generate(_ context.Context, _ policy.Role, _ int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	out := make([]policy.Completion, len(prompts))
	for i, p := range prompts {
		out[i] = policy.Completion{ID: p.ID, Text: p.Choices[0]}
	}
	return out, nil
}

type pool struct{ *gym.Pool }

type openWorker struct{ *gym.Worker }

func (w openWorker) Close() { _ = w.Worker.Close() }

func (p pool) Open(ctx context.Context, src gym.Source) (Worker, error) {
	w, err := p.Pool.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	return openWorker{w}, nil
}

// overlap has one design near to everything, and fails unless it is told how many there are to wait for.
type overlap struct{}

func (overlap) Nearest(_ context.Context, _ []uuid.UUID, _ int32, remembered int64, _ string) (uuid.UUID, float64, bool, error) {
	if remembered != 7 {
		return uuid.Nil, 0, false, fmt.Errorf("remembered is %d", remembered)
	}
	return uuid.UUID{9}, 0.25, true, nil
}

func evaluate(t *testing.T, version int64, parallel int) []*spadepb.EvaluationCompleted {
	t.Helper()
	log := &memoryLog{}
	e := New(Settings{
		Run: runs.Run{ID: ids.Run("demo"), Seed: 1, Config: &spadepb.SemanticConfig{EvalSeeds: 3, AgentTemperature: 1}},
		Log: log, Policy: first{}, Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: parallel})}, Overlap: overlap{},
		Source: observe.NewSource("test"), Parallel: parallel,
		Tasks: []Task{
			{Suite: "s", ID: "games/a", Category: "games", Runtime: gym.RuntimeStarlark, Code: gymtest.Counting},
			{Suite: "s", ID: "games/b", Category: "games", Runtime: gym.RuntimeStarlark, Code: gymtest.Counting},
		},
	})
	if err := e.Evaluate(t.Context(), version, 7); err != nil {
		t.Fatal(err)
	}
	if len(log.events) != e.Episodes() {
		t.Fatalf("%d events, want %d", len(log.events), e.Episodes())
	}
	slices.SortFunc(log.events, func(a, b event.Event) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	var out []*spadepb.EvaluationCompleted
	for _, ev := range log.events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, msg.(*spadepb.EvaluationCompleted))
	}
	slices.SortFunc(out, func(a, b *spadepb.EvaluationCompleted) int {
		return cmp.Or(cmp.Compare(a.GetTaskId(), b.GetTaskId()), cmp.Compare(a.GetSeedIndex(), b.GetSeedIndex()))
	})
	return out
}

func TestEveryTaskIsPlayedOnEverySeed(t *testing.T) {
	for i, m := range evaluate(t, 2, 2) {
		if m.GetSeedIndex() != int32(i%3) || m.GetPolicyVersion() != 2 || m.GetKind() != "game" || m.GetSteps() == 0 {
			t.Errorf("episode %d: %v", i, m)
		}
		// The counter's first legal action is the right one, so the first one always solves it.
		if !m.GetSuccess() || m.GetReward() != 1 {
			t.Errorf("episode %d: outcome %s, reward %g", i, m.GetOutcome(), m.GetReward())
		}
		if m.GetNearestSimilarity() != 0.25 || !bytes.Equal(m.GetNearestDesignedEnv()[:1], []byte{9}) {
			t.Errorf("episode %d: nearest %v", i, m.GetNearestDesignedEnv())
		}
	}
}

func TestVersionsArePlayedOnTheSameSeeds(t *testing.T) {
	a, b := evaluate(t, 0, 1), evaluate(t, 5, 3)
	for i := range a {
		if a[i].GetEnvSeed() != b[i].GetEnvSeed() || bytes.Equal(a[i].GetEvaluationId(), b[i].GetEvaluationId()) {
			t.Errorf("episode %d: seeds %d and %d, ids %x and %x", i,
				a[i].GetEnvSeed(), b[i].GetEnvSeed(), a[i].GetEvaluationId(), b[i].GetEvaluationId())
		}
	}
}
