package rollout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

// memoryLog keeps what is appended.
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

// dice picks a legal action by the prompt's seed alone.
type dice struct{}

func (dice) Generate(_ context.Context, _ policy.Role, _ int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	out := make([]policy.Completion, len(prompts))
	for i, p := range prompts {
		at := int(p.Seed % uint64(len(p.Choices)))
		out[i] = policy.Completion{ID: p.ID, Text: p.Choices[at], TokenIDs: []int32{int32(at)}, Logprobs: []float32{-1}}
	}
	return out, nil
}

// pool starts real workers.
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

func environment(run runs.Run, code string) (*spadepb.EnvironmentDesigned, *spadepb.EnvironmentAccepted) {
	env := ids.Env(run.ID, 1, 2, 0)
	seeds := []uint64{seed.Derive(run.Seed, seed.Key{Index: 0}), seed.Derive(run.Seed, seed.Key{Index: 1})}
	return &spadepb.EnvironmentDesigned{EnvId: env[:], Runtime: gym.RuntimeStarlark, Code: code},
		&spadepb.EnvironmentAccepted{
			RunId: run.ID[:], EnvId: env[:], Iteration: 1, Slot: 2, PolicyVersion: 1,
			ExpectedPlain: 4, ExpectedHinted: 3, EnvSeeds: seeds, Repeats: 2,
			Title: "Counting", Kind: "game", MaxSteps: 12,
		}
}

// Rollout is the whole work of one environment.
func (p *Player) Rollout(ctx context.Context, design *spadepb.EnvironmentDesigned, ok *spadepb.EnvironmentAccepted) error {
	if !p.admit(ctx, nil) {
		return ctx.Err()
	}
	return p.finish(ctx, ok, p.start(ctx, 0, design, ok))
}

// rollOut plays an environment and returns what was appended.
func rollOut(t *testing.T, workers int, code string) []event.Event {
	t.Helper()
	return rollOutAs(t, workers, code, func(*spadepb.EnvironmentAccepted) {})
}

// rollOutAs is rollOut of what was accepted as something else.
func rollOutAs(t *testing.T, workers int, code string, change func(*spadepb.EnvironmentAccepted)) []event.Event {
	t.Helper()
	run := testRun()
	log := &memoryLog{}
	p := New(Settings{
		Run: run, Log: log, Policy: dice{}, Model: "dice", Source: observe.NewSource("test"),
		Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: workers})},
	})
	design, accepted := environment(run, code)
	change(accepted)
	if err := p.Rollout(t.Context(), design, accepted); err != nil {
		t.Fatal(err)
	}
	return log.events
}

func TestEveryExpectedEpisodeIsAppendedInOrder(t *testing.T) {
	events := rollOut(t, 2, gymtest.Counting)
	env := ids.Env(ids.Run("demo"), 1, 2, 0)
	var want, got []uuid.UUID
	for i := range 4 {
		want = append(want, ids.Rollout(env, ids.ArmPlain, i/2, i%2))
	}
	for i := range 3 {
		want = append(want, ids.Rollout(env, ids.ArmHinted, i/2, i%2))
	}
	for _, ev := range events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		e := msg.(*spadepb.RolloutCompleted)
		got = append(got, uuid.UUID(e.GetRolloutId()))
		check(t, e)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rollouts %v, want %v", got, want)
	}
}

// check looks at one episode on its own.
func check(t *testing.T, e *spadepb.RolloutCompleted) {
	t.Helper()
	hinted := e.GetArm() == ids.ArmHinted
	if (e.GetHint() != "") != hinted {
		t.Errorf("%s episode with hint %q", e.GetArm(), e.GetHint())
	}
	if sum := sha256.Sum256([]byte(e.GetHint())); hinted && !bytes.Equal(sum[:], e.GetHintSha256()) {
		t.Error("the hint's digest is not the hint's")
	}
	if len(e.GetSteps()) == 0 || !outcome.Valid(e.GetOutcome()) || e.GetFinalObservation() == "" {
		t.Errorf("episode %v", e)
	}
	var sum float64
	for i, s := range e.GetSteps() {
		sum += s.GetReward()
		if last := i == len(e.GetSteps())-1; (s.GetTerminated() || s.GetTruncated()) != last {
			t.Errorf("step %d of %d: terminated %v, truncated %v", i, len(e.GetSteps()), s.GetTerminated(), s.GetTruncated())
		}
		if s.GetObservation() == "" || s.GetAction() == "" || len(s.GetStateHash()) != sha256.Size || len(s.GetTokenIds()) != 1 {
			t.Errorf("step %d: %v", i, s)
		}
	}
	if d := sum - e.GetTotalReward(); d > 1e-9 || d < -1e-9 {
		t.Errorf("rewards add up to %g, the return is %g", sum, e.GetTotalReward())
	}
}

func TestParallelismDoesNotShow(t *testing.T) {
	same := func(a, b event.Event) bool { return a.ID == b.ID && bytes.Equal(a.Payload, b.Payload) }
	if one := rollOut(t, 1, gymtest.Counting); !slices.EqualFunc(one, rollOut(t, 4, gymtest.Counting), same) {
		t.Error("one worker at a time plays other episodes than four")
	}
}

// With one sandbox the arms are played one after the other: the time of the second holds no waiting for the first.
func TestWaitingForASandboxIsNoPartOfAnEpisode(t *testing.T) {
	type span struct{ started, finished time.Time }
	arms := map[string]span{}
	for _, ev := range rollOut(t, 1, gymtest.Counting) {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		arms[msg.(*spadepb.RolloutCompleted).GetArm()] = span{ev.Observed.GetStartedAt().AsTime(), ev.Observed.GetFinishedAt().AsTime()}
	}
	plain, hinted := arms[ids.ArmPlain], arms[ids.ArmHinted]
	if plain.started.Before(hinted.finished) && hinted.started.Before(plain.finished) {
		t.Errorf("plain %v, hinted %v: one sandbox played both at once", plain, hinted)
	}
	for arm, s := range arms {
		if !s.started.Before(s.finished) {
			t.Errorf("%s took from %v to %v", arm, s.started, s.finished)
		}
	}
}

func TestASourceThatCannotBeLoadedDropsItsEpisodes(t *testing.T) {
	allDropped(t, rollOut(t, 2, "this is no source"), "parse")
}

// What an environment says of itself today is not what decides when its episodes end.
func TestAnEnvironmentThatIsAnotherDropsItsEpisodes(t *testing.T) {
	for want, change := range map[string]func(*spadepb.EnvironmentAccepted){
		"title":         func(ok *spadepb.EnvironmentAccepted) { ok.Title = "Accounting" },
		"kind":          func(ok *spadepb.EnvironmentAccepted) { ok.Kind = "tools" },
		"max_steps 12,": func(ok *spadepb.EnvironmentAccepted) { ok.MaxSteps = 11 },
	} {
		allDropped(t, rollOutAs(t, 2, gymtest.Counting, change), want)
	}
}

func allDropped(t *testing.T, events []event.Event, reason string) {
	t.Helper()
	if len(events) != 7 {
		t.Fatalf("%d events, want one an expected episode", len(events))
	}
	for _, ev := range events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := msg.(*spadepb.RolloutDropped); !ok || !strings.Contains(d.GetReason(), reason) {
			t.Errorf("got %.200s", msg)
		}
	}
}
