package security

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/consumers/verify"
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

// partitions is more than one, so that there is a wrong one.
const partitions = 3

func TestAWriterThatLiesIsRefusedByEveryone(t *testing.T) {
	mine, theirs := ids.Run("mine"), ids.Run("theirs")
	b := bustest.Start(t)
	stranger := b.Client(t) // any Kafka client: it checks nothing
	var mu sync.Mutex
	var letters []error
	ours, err := bus.New(b.Config(), bus.Settings{DeadLetter: func(_ context.Context, _ event.Record, reason error) error {
		mu.Lock()
		defer mu.Unlock()
		letters = append(letters, reason)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ours.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := ours.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	honest := append(story(t, mine), story(t, theirs)...)
	if err := ours.Append(t.Context(), honest...); err != nil {
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
	misplace(t, b, ours, honest[1]) // an honest event's copy, where its key does not belong
	if after := digests(t, ours, mine, theirs); after != before {
		t.Error("a digest has changed")
	}
	want := []error{event.ErrKey, event.ErrKey, event.ErrKey, event.ErrKey, event.ErrID, event.ErrValue, bus.ErrMisplaced}
	consume(t, ours, len(want), func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(letters)
	})
	expect(t, "a group's dead letters", letters, want)
	for name, read := range readers() {
		var delivered int
		var refused []error
		read(t, ours, func(ev event.Event) {
			if delivered++; event.Check(ev) != nil {
				t.Errorf("%s: a lie is delivered", name)
			}
		}, func(reason error) { refused = append(refused, reason) })
		if delivered != len(honest) {
			t.Errorf("%s: %d events, %d are honest", name, delivered, len(honest))
		}
		if name == "verify" {
			expect(t, name, refused, want)
		}
	}
}

// misplace puts a copy of an event into another partition than its key's.
func misplace(t *testing.T, b *bustest.Broker, c *bus.Client, ev event.Event) {
	t.Helper()
	at, err := c.PartitionOf(t.Context(), ev.Topic, []byte(ev.Key))
	if err != nil {
		t.Fatal(err)
	}
	records, err := event.Encode(ev, 0, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	copied := &kgo.Record{Topic: ev.Topic, Partition: (at + 1) % partitions, Key: records[0].Key, Value: records[0].Value}
	for _, h := range records[0].Headers {
		copied.Headers = append(copied.Headers, kgo.RecordHeader(h))
	}
	client := bustest.Franz(t, b.Config(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := client.ProduceSync(t.Context(), copied).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// expect compares reasons, in whatever order they come.
func expect(t *testing.T, who string, got, want []error) {
	t.Helper()
	left := slices.Clone(got)
	for _, class := range want {
		i := slices.IndexFunc(left, func(err error) bool { return errors.Is(err, class) })
		if i < 0 {
			t.Fatalf("%s: no %q among %v", who, class, got)
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("%s: %v besides", who, left)
	}
}

// read gives the events of every topic, as they are now, to fn, and what is no event to refused, where the reader tells.
type read func(t *testing.T, c *bus.Client, fn func(event.Event), refused func(error))

// readers are the ways in which the program reads the log, besides groups.
func readers() map[string]read {
	return map[string]read{
		"read": func(t *testing.T, c *bus.Client, fn func(event.Event), _ func(error)) { // the catch-up of ledger and leader
			for _, topic := range topics.All(1) {
				if err := c.Read(t.Context(), topic.Name, nil, nil, func(ev event.Event) error { fn(ev); return nil }); err != nil {
					t.Fatal(err)
				}
			}
		},
		"follow": followed, // ledger and leader
		"tail": func(t *testing.T, c *bus.Client, fn func(event.Event), _ func(error)) { // rebuilds
			for _, topic := range topics.All(1) {
				for p, end := range ends(t, c, topic.Name) {
					if err := c.Tail(topic.Name, p, 0).ReadTo(t.Context(), end, func(ev event.Event) error { fn(ev); return nil }); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		"verify": func(t *testing.T, c *bus.Client, fn func(event.Event), refused func(error)) {
			cut, err := verify.Ends(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if err := (verify.Scan{Cut: cut}).Run(t.Context(), c, judge{fn, refused}); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// followed is done when each record has been delivered or counted as lost.
func followed(t *testing.T, c *bus.Client, fn func(event.Event), _ func(error)) {
	t.Helper()
	var names []string
	left := int64(0)
	for _, topic := range topics.All(1) {
		names = append(names, topic.Name)
		for _, end := range ends(t, c, topic.Name) {
			left += end
		}
	}
	lost := c.Stats().Lost
	var seen atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for ctx.Err() == nil && seen.Load()+c.Stats().Lost-lost < left {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
	})
	err := c.Follow(ctx, names, nil, func(ev event.Event) error {
		fn(ev)
		seen.Add(1)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func ends(t *testing.T, c *bus.Client, topic string) map[int32]int64 {
	t.Helper()
	out, err := c.HighWatermarks(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// judge is a check of a scan that hands on what it is given.
type judge struct {
	event   func(event.Event)
	refused func(error)
}

func (j judge) Add(_ context.Context, e *verify.Entry) error {
	if e.Err != nil {
		j.refused(e.Err)
		return nil
	}
	j.event(e.Event)
	return nil
}

func (judge) Partition(context.Context) error { return nil }

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
