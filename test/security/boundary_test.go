package security

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func made(t *testing.T, key string, subject uuid.UUID, msg proto.Message) event.Event {
	t.Helper()
	ev, err := event.New(key, subject, 0, msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// story is what an honest writer appends of a run.
func story(t *testing.T, run uuid.UUID) []event.Event {
	t.Helper()
	env := ids.Env(run, 0, 0, 0)
	rollout := ids.Rollout(env, ids.ArmPlain, 0, 0)
	key := topics.EnvKey(run, env)
	return []event.Event{
		made(t, key, env, &spadepb.EnvironmentAccepted{RunId: run[:], EnvId: env[:], ExpectedPlain: 1, EnvSeeds: []uint64{1}, Repeats: 1}),
		made(t, key, rollout, &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: rollout[:], Arm: ids.ArmPlain, TotalReward: 0.5}),
		made(t, key, env, &spadepb.RegretEstimated{RunId: run[:], EnvId: env[:]}),
	}
}

// lies are what a writer who may write to the topics of run mine appends, so as to be taken for the other run's.
func lies(t *testing.T, mine, theirs uuid.UUID) []event.Event {
	t.Helper()
	env, their := ids.Env(mine, 0, 0, 0), ids.Env(theirs, 0, 0, 0)
	rollout := ids.Rollout(their, ids.ArmPlain, 0, 1)
	forged := &spadepb.RolloutCompleted{RunId: theirs[:], EnvId: their[:], RolloutId: rollout[:], Arm: ids.ArmPlain, Repeat: 1, TotalReward: 1}
	own := proto.CloneOf(forged)
	own.RunId, own.EnvId = mine[:], env[:]
	elsewhere := made(t, topics.RunKey(theirs), theirs, &spadepb.RunFinished{RunId: theirs[:], Status: "failed"})
	elsewhere.Topic = topics.Rollouts
	renamed := made(t, topics.EnvKey(theirs, their), their, &spadepb.RolloutDropped{
		RunId: theirs[:], EnvId: their[:], RolloutId: rollout[:], Arm: ids.ArmPlain, Repeat: 1,
	})
	poisoned := proto.CloneOf(forged)
	poisoned.TotalReward = math.NaN()
	return []event.Event{
		made(t, topics.EnvKey(mine, env), rollout, forged), // the payload is another run's than the key
		made(t, topics.EnvKey(theirs, their), rollout, own),
		made(t, topics.EnvKey(theirs, env), rollout, own),
		elsewhere,
		renamed,
		made(t, topics.EnvKey(theirs, their), rollout, poisoned),
	}
}

func TestAWriterThatLiesIsRefusedByEveryone(t *testing.T) {
	mine, theirs := ids.Run("mine"), ids.Run("theirs")
	b := bustest.Start(t)
	stranger := b.Client(t) // any Kafka client: it checks nothing
	var mu sync.Mutex
	var letters []error
	ours := b.ClientWith(t, b.Config(), bus.Settings{Check: event.Check, DeadLetter: func(_ context.Context, _ event.Record, reason error) error {
		mu.Lock()
		defer mu.Unlock()
		letters = append(letters, reason)
		return nil
	}})
	if err := ours.EnsureTopics(t.Context(), topics.All(1)); err != nil {
		t.Fatal(err)
	}
	if err := ours.Append(t.Context(), append(story(t, mine), story(t, theirs)...)...); err != nil {
		t.Fatal(err)
	}
	before := digests(t, ours, mine, theirs)

	forged := lies(t, mine, theirs)
	var rejected *bus.RejectedError
	if err := ours.Append(t.Context(), forged...); !errors.As(err, &rejected) || len(rejected.Rejected) != len(forged) {
		t.Fatalf("our own producer appends them: %v", err)
	}
	if err := stranger.Append(t.Context(), forged...); err != nil {
		t.Fatal(err)
	}
	if after := digests(t, ours, mine, theirs); after != before {
		t.Error("a digest has changed")
	}
	consume(t, ours, len(forged), func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(letters)
	})
	for i, want := range []error{event.ErrKey, event.ErrKey, event.ErrKey, event.ErrKey, event.ErrID, event.ErrValue} {
		if !errors.Is(letters[i], want) {
			t.Errorf("letter %d: %v, want %v", i, letters[i], want)
		}
	}
}

// digests are those of two runs, as spade digest takes them.
func digests(t *testing.T, c *bus.Client, runs ...uuid.UUID) (sums [2][32]byte) {
	t.Helper()
	for i, run := range runs {
		d := digest.New(run)
		for _, topic := range topics.All(1) {
			if err := c.Read(t.Context(), topic.Name, nil, nil, func(ev event.Event) error { d.Add(ev); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		sums[i] = d.Sum()
	}
	return sums
}

// consume reads the rollouts as a group until there are as many letters, and fails where a lie is delivered.
func consume(t *testing.T, c *bus.Client, want int, letters func() int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	err := c.Consume(ctx, "g", []string{topics.Rollouts}, nil, bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
		return &reader{t: t, idle: func() {
			if letters() >= want {
				stop()
			}
		}}, nil
	}))
	if err != nil || letters() < want {
		t.Fatalf("%d of %d letters: %v", letters(), want, err)
	}
}

type reader struct {
	t    *testing.T
	idle func()
}

func (r *reader) Process(_ context.Context, b bus.Batch) error {
	for _, ev := range b.Events {
		if err := event.Check(ev); err != nil {
			r.t.Errorf("delivered: %v", err)
		}
	}
	return nil
}
func (r *reader) Idle(context.Context) error  { r.idle(); return nil }
func (*reader) Revoked(context.Context) error { return nil }
func (*reader) Lost()                         {}
