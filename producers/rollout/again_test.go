package rollout

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// climber says the first action whenever there is a hint, which solves the game, and throws dice otherwise.
type climber struct{ dice }

func (c climber) Generate(ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	out, err := c.dice.Generate(ctx, role, version, prompts)
	for i, p := range prompts {
		if slices.ContainsFunc(p.Messages, func(m policy.Message) bool { return strings.Contains(m.Content, "Say up") }) {
			out[i].Text = p.Choices[0]
		}
	}
	return out, err
}

// watched notes how many episodes each batch of resets began, by whether they were hinted.
type watched struct {
	pool
	mu    sync.Mutex
	begun map[bool][]int
}

type watchedWorker struct {
	Worker
	by *watched
}

func (w *watched) Open(ctx context.Context, src gym.Source) (Worker, error) {
	inner, err := w.pool.Open(ctx, src)
	return watchedWorker{inner, w}, err
}

func (w watchedWorker) Reset(ctx context.Context, resets []wire.Reset) ([]wire.Started, error) {
	w.by.mu.Lock()
	defer w.by.mu.Unlock()
	w.by.begun[resets[0].WantHint] = append(w.by.begun[resets[0].WantHint], len(resets))
	return w.Worker.Reset(ctx, resets)
}

// rollOutIn plays a source in a runtime.
func rollOutIn(t *testing.T, w *watched, runtime string, hinted int32, code string) []event.Event {
	t.Helper()
	run := runs.Run{ID: ids.Run("demo"), Seed: 5, Config: &spadepb.SemanticConfig{AgentTemperature: 1, Group: "seed"}}
	log := &memoryLog{}
	p := New(Settings{Run: run, Log: log, Policy: climber{}, Model: "dice", Source: observe.NewSource("test"), Workers: w})
	design, accepted := environment(run, code)
	design.Runtime, accepted.ExpectedHinted = runtime, hinted
	if err := p.Rollout(t.Context(), design, accepted); err != nil {
		t.Fatal(err)
	}
	return log.events
}

func newWatched(t *testing.T) *watched {
	return &watched{
		pool:  pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 1, MemoryBytes: 256 << 20})},
		begun: map[bool][]int{},
	}
}

// What the plain arm is made to play besides its own episodes changes nothing of them: the payloads are those of Starlark,
// where nothing is played again.
func TestWhatIsPlayedAgainDoesNotShow(t *testing.T) {
	w := newWatched(t)
	alone := rollOutIn(t, w, gym.RuntimePython, 0, gymtest.Counting)
	both := rollOutIn(t, w, gym.RuntimePython, 3, gymtest.Counting)
	starlark := rollOutIn(t, w, gym.RuntimeStarlark, 3, gymtest.Counting)
	if want := []int{4, 6, 4}; !slices.Equal(w.begun[false], want) || !slices.Equal(w.begun[true], []int{3, 3}) {
		t.Errorf("batches of %v plain episodes and of %v hinted ones, want %v and 3 each", w.begun[false], w.begun[true], want)
	}
	same := func(a, b event.Event) bool { return a.ID == b.ID && bytes.Equal(a.Payload, b.Payload) }
	if len(both) != 7 || !slices.EqualFunc(both, starlark, same) || !slices.EqualFunc(both[:4], alone, same) {
		t.Errorf("%d, %d and %d episodes, and they are not the same", len(alone), len(both), len(starlark))
	}
	for _, e := range episodes(t, both) {
		check(t, e)
		if hinted := e.GetArm() == ids.ArmHinted; hinted && e.GetOutcome() != outcome.Solved || !outcome.Valid(e.GetOutcome()) {
			t.Errorf("a %s episode of an honest source ended with %s: %s", e.GetArm(), e.GetOutcome(), e.GetError())
		}
	}
}

// A source that pays, or plays, in one arm only has its hinted episodes count for nothing.
func TestWhatOnlyOneArmIsPaidForCountsForNothing(t *testing.T) {
	const told = `import sys; TOLD = sys.__dict__.setdefault("told", set())` + "\nMETA"
	w := newWatched(t)
	for name, cheat := range map[string][2]string{
		"no reward":     {`1.0 if done else 0.0`, `1.0 if done and TOLD else 0.0`},
		"another end":   {`done = state["n"] == state["goal"]`, `done = state["n"] == state["goal"] and bool(TOLD)`},
		"another state": {`done = state["n"] == state["goal"]`, `done = state["n"] == state["goal"]; state["told"] = len(TOLD)`},
	} {
		code := strings.Replace(gymtest.Counting, cheat[0], cheat[1], 1)
		if code == gymtest.Counting {
			t.Fatalf("%s: %q is not in the source", name, cheat[0])
		}
		code = strings.Replace(code, "def hint(state):\n", "def hint(state):\n    TOLD.add(1)\n", 1)
		events := rollOutIn(t, w, gym.RuntimePython, 3, strings.Replace(code, "META", told, 1))
		hinted := 0
		for _, e := range episodes(t, events) {
			if e.GetArm() != ids.ArmHinted {
				continue
			}
			hinted++
			if e.GetOutcome() != outcome.EnvError || e.GetError() != unequal || e.GetTotalReward() != 0 || e.GetHasVerify() {
				t.Errorf("%s: a hinted episode ended with %s and %v: %s", name, e.GetOutcome(), e.GetTotalReward(), e.GetError())
			}
		}
		if hinted != 3 {
			t.Errorf("%s: %d hinted episodes", name, hinted)
		}
	}
}

func episodes(t *testing.T, events []event.Event) []*spadepb.RolloutCompleted {
	t.Helper()
	list := make([]*spadepb.RolloutCompleted, len(events))
	for i, ev := range events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		e, ok := msg.(*spadepb.RolloutCompleted)
		if !ok {
			t.Fatalf("got %v", msg)
		}
		list[i] = e
	}
	return list
}
