package verify

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// story is the records of a log with one partition a topic.
type story struct {
	tb      testing.TB
	records map[string][]event.Record
}

func newStory(tb testing.TB) *story {
	return &story{tb: tb, records: map[string][]event.Record{}}
}

// ReadRecords implements Source.
func (s *story) ReadRecords(_ context.Context, topic string, from, to map[int32]int64, fn func(event.Record) error) error {
	for _, r := range s.records[topic] {
		if r.Offset < from[0] || r.Offset >= to[0] {
			continue
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// HighWatermarks implements Source.
func (s *story) HighWatermarks(_ context.Context, topic string) (map[int32]int64, error) {
	return map[int32]int64{0: int64(len(s.records[topic]))}, nil
}

// Assembler implements Source.
func (s *story) Assembler(string) event.Assembler { return event.Assembler{Check: event.Check} }

// add appends an event and returns its record.
func (s *story) add(key string, subject uuid.UUID, msg proto.Message) event.Record {
	s.tb.Helper()
	ev, err := event.New(key, subject, 0, msg, &spadepb.Observed{})
	if err != nil {
		s.tb.Fatal(err)
	}
	ev.Time = time.Unix(1_700_000_000, 0)
	records, err := event.Encode(ev, 0, uuid.New())
	if err != nil {
		s.tb.Fatal(err)
	}
	return s.raw(records[0])
}

// raw appends a record.
func (s *story) raw(r event.Record) event.Record {
	r.Offset = int64(len(s.records[r.Topic]))
	s.records[r.Topic] = append(s.records[r.Topic], r)
	return r
}

// retry appends a record again, with another value.
func (s *story) retry(r event.Record, value []byte) {
	r = deadletter.Retry(r)
	r.Value = value
	s.raw(r)
}

func storyRun() uuid.UUID { return ids.Run("story") }

func storyEnv(slot int) uuid.UUID { return ids.Env(storyRun(), 0, slot, 0) }

// finished tells a whole run of one iteration: slot 0 is accepted, slot 1 refused. leave leaves out the event of that name.
func finished(tb testing.TB, leave string) *story {
	tb.Helper()
	s := newStory(tb)
	run := storyRun()
	key, env, refused := topics.RunKey(run), storyEnv(0), storyEnv(1)
	batch := ids.Batch(run, 0, "agent")
	type one struct {
		name    string
		key     string
		subject uuid.UUID
		msg     proto.Message
	}
	envKey, refusedKey := topics.EnvKey(run, env), topics.EnvKey(run, refused)
	all := []one{
		{"start", key, run, &spadepb.RunStarted{
			RunId: run[:], Name: "story", Kind: runs.KindTrain, Config: &spadepb.SemanticConfig{
				Iterations: 1, Designs: 2, EnvSeeds: 1, Repeats: 2, Suites: []string{"s@1"}, EvalSeeds: 1,
			},
		}},
		{"update -1", key, ids.Policy(run, -1), &spadepb.PolicyUpdated{RunId: run[:], PolicyFrom: -1, PolicyTo: 0}},
		{"request 0", envKey, env, &spadepb.DesignRequested{RunId: run[:], EnvId: env[:]}},
		{"request 1", refusedKey, refused, &spadepb.DesignRequested{RunId: run[:], EnvId: refused[:], Slot: 1}},
		{"design 0", envKey, env, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: env[:], Code: "a"}},
		{"design 1", refusedKey, refused, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: refused[:], Slot: 1, Code: "b"}},
		{"accepted", envKey, env, &spadepb.EnvironmentAccepted{
			RunId: run[:], EnvId: env[:], ExpectedPlain: 2, ExpectedHinted: 1, Repeats: 2, EnvSeeds: []uint64{7},
		}},
		{"rejected", refusedKey, refused, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: refused[:], Slot: 1, LastAttempt: true}},
	}
	for _, e := range []struct {
		arm    string
		repeat int
	}{{ids.ArmPlain, 0}, {ids.ArmPlain, 1}, {ids.ArmHinted, 0}} {
		id := ids.Rollout(env, e.arm, 0, e.repeat)
		all = append(all, one{fmt.Sprintf("rollout %s %d", e.arm, e.repeat), envKey, id, &spadepb.RolloutCompleted{
			RunId: run[:], RolloutId: id[:], EnvId: env[:], Arm: e.arm, Repeat: int32(e.repeat), Outcome: "failed",
		}})
	}
	all = append(all,
		one{"regret", envKey, env, &spadepb.RegretEstimated{RunId: run[:], EnvId: env[:]}},
		one{"reward 0", envKey, env, &spadepb.DesignerRewarded{RunId: run[:], EnvId: env[:]}},
		one{"reward 1", refusedKey, refused, &spadepb.DesignerRewarded{RunId: run[:], EnvId: refused[:], Slot: 1}},
		one{"batch", key, batch, &spadepb.BatchBuilt{RunId: run[:], BatchId: batch[:], Role: "agent"}},
		one{"update 0", key, ids.Policy(run, 0), &spadepb.PolicyUpdated{RunId: run[:], PolicyTo: 1, BatchIds: [][]byte{batch[:]}}},
	)
	for _, v := range []int64{0, 1} {
		id := ids.Evaluation(run, v, "s", "task", 0)
		all = append(all, one{fmt.Sprintf("evaluation %d", v), key, id, &spadepb.EvaluationCompleted{
			RunId: run[:], EvaluationId: id[:], PolicyVersion: v, Suite: "s", TaskId: "task",
		}})
	}
	all = append(all,
		one{"closed", key, ids.Iteration(run, 0), &spadepb.IterationClosed{
			RunId: run[:], Designed: 2, Accepted: 1, Rejected: 1, RolloutsCompleted: 3, RegretsEstimated: 1,
		}},
		one{"finished", key, run, &spadepb.RunFinished{
			RunId: run[:], Status: "finished", Designed: 2, Accepted: 1, Rejected: 1, Rollouts: 3, PolicyVersion: 1,
		}},
	)
	for _, o := range all {
		if o.name != leave {
			s.add(o.key, o.subject, o.msg)
		}
	}
	return s
}

// check scans a story.
func check(tb testing.TB, s *story, only uuid.UUID) (*RunLog, *Report) {
	tb.Helper()
	cut, err := Ends(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	var report Report
	l := NewRunLog(only, cut, &report)
	if err := (Scan{Cut: cut}).Run(tb.Context(), s, l); err != nil {
		tb.Fatal(err)
	}
	l.Finish()
	return l, &report
}

// letterLog appends letters to a story.
type letterLog struct{ *story }

// Append implements deadletter.Appender.
func (l letterLog) Append(_ context.Context, events ...event.Event) error {
	for _, ev := range events {
		records, err := event.Encode(ev, 0, uuid.New())
		if err != nil {
			return err
		}
		l.raw(records[0])
	}
	return nil
}
