package scorer

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func testRun() runs.Run {
	return runs.Run{ID: ids.Run("demo"), Config: payConfig()}
}

// log makes the events of n environments: accepted ones with two episodes an arm, every third one rejected.
func log(t *testing.T, run runs.Run, n int) []event.Event {
	t.Helper()
	var all []event.Event
	offsets := map[string]int64{}
	add := func(env, subject uuid.UUID, msg proto.Message) {
		ev, err := event.New(topics.EnvKey(run.ID, env), subject, 0, msg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Offset = offsets[ev.Topic]
		offsets[ev.Topic]++
		all = append(all, ev)
	}
	for slot := range n {
		env := ids.Env(run.ID, 0, slot, 0)
		if slot%3 == 2 {
			add(env, env, &spadepb.EnvironmentRejected{RunId: run.ID[:], EnvId: env[:], Slot: int32(slot), LastAttempt: true})
			continue
		}
		add(env, env, &spadepb.EnvironmentAccepted{
			RunId: run.ID[:], EnvId: env[:], Slot: int32(slot), ExpectedPlain: 2, ExpectedHinted: 3,
		})
		for i, arm := range []string{ids.ArmPlain, ids.ArmPlain, ids.ArmHinted, ids.ArmHinted} {
			id := ids.Rollout(env, arm, i%2, 0)
			add(env, id, &spadepb.RolloutCompleted{
				RunId: run.ID[:], RolloutId: id[:], EnvId: env[:], Arm: arm, SeedIndex: int32(i % 2),
				TotalReward: float64(i) / 7, Outcome: outcome.Failed, PolicyVersion: 3,
			})
		}
		id := ids.Rollout(env, ids.ArmHinted, 2, 0)
		add(env, id, &spadepb.RolloutDropped{RunId: run.ID[:], RolloutId: id[:], EnvId: env[:], Arm: ids.ArmHinted})
	}
	return all
}

func fold(t *testing.T, run runs.Run, all []event.Event) []event.Event {
	t.Helper()
	p := NewPartition(run, observe.NewSource("test"))
	var out []event.Event
	for _, ev := range all {
		events, err := p.Add(ev)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, events...)
	}
	for _, topic := range []string{topics.Environments, topics.Rollouts} {
		if offset, open := p.OldestOpen(topic); open {
			t.Errorf("%s is open at %d", topic, offset)
		}
	}
	slices.SortFunc(out, func(a, b event.Event) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return out
}

func TestAnyOrderAndAnyRepeatScoreTheSame(t *testing.T) {
	run := testRun()
	all := log(t, run, 6)
	want := fold(t, run, all)
	if len(want) != 4*2+2 {
		t.Fatalf("%d events, want a regret and a pay for each of 4 environments and a pay for 2 rejected", len(want))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		shuffled := slices.Clone(all)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		shuffled = append(shuffled, shuffled[:random.IntN(len(shuffled))]...)
		got := fold(t, run, shuffled)
		if !slices.EqualFunc(got, want, func(a, b event.Event) bool { return a.ID == b.ID && bytes.Equal(a.Payload, b.Payload) }) {
			t.Fatal("another order scores differently")
		}
	}
}

func TestAnOpenGroupHoldsTheOffsetOfItsFirstEvent(t *testing.T) {
	run := testRun()
	all := log(t, run, 2) // both accepted, six events each
	p := NewPartition(run, observe.NewSource("test"))
	add := func(events ...event.Event) {
		for _, ev := range events {
			if _, err := p.Add(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(environments, rollouts int64) {
		t.Helper()
		if at, open := p.OldestOpen(topics.Environments); !open || at != environments {
			t.Errorf("environments open at %d, %v; want %d", at, open, environments)
		}
		if at, open := p.OldestOpen(topics.Rollouts); !open || at != rollouts {
			t.Errorf("rollouts open at %d, %v; want %d", at, open, rollouts)
		}
	}
	add(all[:5]...)
	add(all[6:11]...)
	want(0, 0)
	add(all[5]) // closes the first
	want(1, 5)
}

// One worker is killed in the middle of its append, and the one that takes over cannot play and drops every episode: the group is
// complete when each has an end, and those count that are first in the log.
func TestAnEpisodeThatIsCompletedAndDroppedEndsOnce(t *testing.T) {
	run := testRun()
	all := log(t, run, 1) // acceptance, four episodes, one dropped
	both := slices.Clone(all[:3])
	for _, ev := range all[1:] {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		id := uuid.UUID(msg.(interface{ GetRolloutId() []byte }).GetRolloutId())
		of := msg.(interface {
			GetEnvId() []byte
			GetArm() string
		})
		drop, err := event.New(ev.Key, id, 0, &spadepb.RolloutDropped{
			RunId: run.ID[:], RolloutId: id[:], EnvId: of.GetEnvId(), Arm: of.GetArm(), Reason: "no memory",
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		drop.Offset = int64(len(both) - 1)
		both = append(both, drop)
	}
	for _, ev := range all[3:] { // and the first one's repetition
		ev.Offset = int64(len(both) - 1)
		both = append(both, ev)
	}
	p := NewPartition(run, observe.NewSource("test"))
	for i, ev := range both {
		events, err := p.Add(ev)
		if err != nil {
			t.Fatal(err)
		}
		if closes := i == 7; (len(events) > 0) != closes {
			t.Fatalf("after event %d: %d results", i, len(events))
		}
		for _, ev := range events {
			msg, err := ev.Message()
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := msg.(*spadepb.RegretUnavailable); ok && (r.GetNPlain() != 2 || r.GetInvalidPlain() != 0 || r.GetInvalidHinted() != 3) {
				t.Errorf("result %v", r)
			}
		}
	}
}

// Episodes of an environment that nobody accepts hold the offsets back for so long and no longer.
func TestEpisodesOfNoEnvironmentAreGivenUp(t *testing.T) {
	run := testRun()
	all := log(t, run, 2)
	p := NewPartition(run, observe.NewSource("test"))
	if _, err := p.Add(all[1]); err != nil { // no acceptance
		t.Fatal(err)
	}
	for _, ev := range all[6:8] {
		if _, err := p.Add(ev); err != nil {
			t.Fatal(err)
		}
	}
	p.Forget(abandonedAfter)
	if at, open := p.OldestOpen(topics.Rollouts); !open || at != 0 {
		t.Errorf("open at %d, %t, before the time is over", at, open)
	}
	p.Forget(3 * abandonedAfter)
	if at, open := p.OldestOpen(topics.Rollouts); !open || at != all[7].Offset {
		t.Errorf("open at %d, %t; what is accepted waits as long as it takes, from %d", at, open, all[7].Offset)
	}
}

func TestEpisodesOfAScoredGroupOpenNoOther(t *testing.T) {
	run := testRun()
	all := log(t, run, 1)
	p := NewPartition(run, observe.NewSource("test"))
	for _, ev := range fold(t, run, all) {
		if err := p.Scored(ev); err != nil {
			t.Fatal(err)
		}
	}
	for _, ev := range all[1:] { // the acceptance is committed, the episodes are read again
		if events, err := p.Add(ev); err != nil || events != nil {
			t.Fatalf("events %v, error %v", events, err)
		}
	}
	if at, open := p.OldestOpen(topics.Rollouts); open {
		t.Errorf("a group is open at %d", at)
	}
}

func TestErrorsOfTheEnvironmentAreNotTheAgents(t *testing.T) {
	run := testRun()
	all := log(t, run, 1)
	for i, ev := range all {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := msg.(*spadepb.RolloutCompleted); ok && r.GetArm() == ids.ArmPlain {
			r.Outcome = outcome.VerifierError
			if all[i].Payload, err = proto.Marshal(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, ev := range fold(t, run, all) {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		switch m := msg.(type) {
		case *spadepb.RegretEstimated:
			t.Errorf("estimated without a valid plain episode: %v", m)
		case *spadepb.RegretUnavailable:
			if m.GetInvalidPlain() != 2 || m.GetNHinted() != 2 || m.GetInvalidHinted() != 1 || m.GetReason() == "" {
				t.Errorf("unavailable: %v", m)
			}
		}
	}
}

func TestOtherRunsAreIgnoredAndGarbageIsTold(t *testing.T) {
	run := testRun()
	p := NewPartition(run, observe.NewSource("test"))
	other := testRun()
	other.ID = ids.Run("other")
	for _, ev := range log(t, other, 3) {
		if events, err := p.Add(ev); err != nil || events != nil {
			t.Fatalf("events %v, error %v", events, err)
		}
	}
	bad := log(t, run, 1)[0]
	bad.Payload = []byte{0xff}
	if _, err := p.Add(bad); !errors.Is(err, event.ErrMalformed) {
		t.Errorf("error %v", err)
	}
}
