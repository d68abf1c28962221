package verify

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func texts(r *Report) []string {
	var out []string
	for _, f := range r.Findings() {
		out = append(out, f.String())
	}
	return out
}

func TestAWholeRunHasNoFindings(t *testing.T) {
	for _, only := range []uuid.UUID{uuid.Nil, storyRun()} {
		l, r := check(t, finished(t, ""), only)
		for _, f := range r.Findings() {
			t.Error(f)
		}
		got := l.Runs()[0]
		want := RunState{
			ID: storyRun(), Name: "story", Kind: "train", Status: "finished", Designed: 2, Accepted: 1, Rejected: 1, Rollouts: 3,
			Versions: 2, Episodes: 2,
		}
		if got != want {
			t.Errorf("state %+v, want %+v", got, want)
		}
	}
}

// TestWhatAFinishedRunLacksIsNamed leaves out one event after the other.
func TestWhatAFinishedRunLacksIsNamed(t *testing.T) {
	env, refused := storyEnv(0), storyEnv(1)
	for _, tc := range []struct{ leave, want string }{
		{"start", "unknown run " + storyRun().String()},
		{"update -1", "missing update " + ids.Policy(storyRun(), -1).String()},
		{"update 0", "missing update " + ids.Policy(storyRun(), 0).String()},
		{"request 1", "missing request " + refused.String()},
		{"design 0", "missing design " + env.String()},
		{"accepted", "missing terminal " + env.String()},
		{"rejected", "missing terminal " + refused.String()},
		{"rollout plain 1", "missing rollout " + ids.Rollout(env, "plain", 0, 1).String()},
		{"rollout hinted 0", "missing rollout " + ids.Rollout(env, "hinted", 0, 0).String()},
		{"regret", "missing regret " + env.String()},
		{"reward 1", "missing reward " + refused.String()},
		{"batch", "missing batch " + ids.Batch(storyRun(), 0, "agent").String()},
		{"evaluation 1", "missing evaluation " + ids.Evaluation(storyRun(), 1, "s", "task", 0).String()},
		{"closed", "missing event " + ids.Iteration(storyRun(), 0).String()},
	} {
		t.Run(tc.leave, func(t *testing.T) {
			_, r := check(t, finished(t, tc.leave), uuid.Nil)
			found := texts(r)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "log: "+tc.want) }) {
				t.Errorf("no %q in\n%s", tc.want, strings.Join(found, "\n"))
			}
		})
	}
}

// TestWhatAnOpenRunLacksIsInFlight: without its end and its closed iteration nothing is missing.
func TestWhatAnOpenRunLacksIsInFlight(t *testing.T) {
	for _, leave := range []string{"rollout plain 1", "rejected", "regret", "reward 1", "update 0", "evaluation 1"} {
		s := finished(t, leave)
		s.records[topics.Runs] = s.records[topics.Runs][:1]
		l, r := check(t, s, uuid.Nil)
		for _, f := range r.Findings() {
			t.Errorf("without %s: %s", leave, f)
		}
		if got := l.Runs()[0]; got.Status != "running" || got.Designed != got.Accepted+got.Rejected+got.InFlight.Designs {
			t.Errorf("without %s: %+v", leave, got)
		}
	}
	s := finished(t, "rollout plain 1")
	s.records[topics.Runs] = s.records[topics.Runs][:1]
	if l, _ := check(t, s, uuid.Nil); l.Runs()[0].InFlight.Rollouts != 1 {
		t.Errorf("%+v", l.Runs()[0])
	}
}

// TestAClosedIterationOfAnOpenRunIsWhole: what a closed iteration lacks is missing although the run goes on, unless it was
// closed after the other topics were cut.
func TestAClosedIterationOfAnOpenRunIsWhole(t *testing.T) {
	s := finished(t, "regret")
	s.records[topics.Runs] = s.records[topics.Runs][:2]
	if _, r := check(t, s, uuid.Nil); !strings.Contains(strings.Join(texts(r), "\n"), "missing regret") {
		t.Errorf("%v", texts(r))
	}
	cut, err := Ends(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	cut.Closed = map[int32]int64{0: 1}
	var report Report
	l := NewRunLog(uuid.Nil, cut, &report)
	if err := (Scan{Cut: cut}).Run(t.Context(), s, l); err != nil {
		t.Fatal(err)
	}
	if l.Finish(); report.Total() != 0 {
		t.Errorf("closed behind the cut: %v", texts(&report))
	}
}

func TestContradictionsAreNamed(t *testing.T) {
	run, env := storyRun(), storyEnv(0)
	key := topics.EnvKey(run, env)
	id := ids.Rollout(env, ids.ArmPlain, 0, 0)
	for _, tc := range []struct {
		name string
		add  func(*story)
		want string
	}{
		{"accepted and rejected", func(s *story) {
			s.add(key, env, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: env[:]})
		}, "two terminals " + env.String()},
		{"completed and dropped", func(s *story) {
			s.add(key, id, &spadepb.RolloutDropped{RunId: run[:], RolloutId: id[:], EnvId: env[:], Arm: ids.ArmPlain})
		}, "two terminals " + id.String()},
		{"estimated and unavailable", func(s *story) {
			s.add(key, env, &spadepb.RegretUnavailable{RunId: run[:], EnvId: env[:]})
		}, "two terminals " + env.String()},
		{"a rollout too many", func(s *story) {
			more := ids.Rollout(env, ids.ArmHinted, 0, 1)
			s.add(key, more, &spadepb.RolloutCompleted{RunId: run[:], RolloutId: more[:], EnvId: env[:], Arm: ids.ArmHinted, Repeat: 1})
		}, "unexpected rollout"},
		{"a key of another run", func(s *story) {
			other := ids.Run("other")
			more := storyEnv(5)
			s.add(topics.EnvKey(other, more), more, &spadepb.RegretEstimated{RunId: run[:], EnvId: more[:]})
		}, "unreadable record spade.regrets/0 at 3"},
		{"an id that nobody derived", func(s *story) {
			other := uuid.New()
			s.add(key, other, &spadepb.RolloutCompleted{RunId: run[:], RolloutId: other[:], EnvId: env[:], Arm: ids.ArmPlain})
		}, "unreadable record spade.rollouts/0 at 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := finished(t, "")
			tc.add(s)
			if _, r := check(t, s, uuid.Nil); !strings.Contains(strings.Join(texts(r), "\n"), tc.want) {
				t.Errorf("no %q in\n%s", tc.want, strings.Join(texts(r), "\n"))
			}
		})
	}
}

func TestRepeatsAreTold(t *testing.T) {
	s := finished(t, "")
	s.raw(s.records[topics.Rollouts][0])
	other := s.records[topics.Rollouts][1]
	other.Value = append(slices.Clone(other.Value), 0x50, 1) // policy_version
	s.raw(other)
	l, r := check(t, s, storyRun())
	if l.Counts.Repeated != 1 || l.Counts.RepeatedOther != 1 || r.Total() != 1 {
		t.Fatalf("%+v, %v", l.Counts, texts(r))
	}
	f := r.Findings()[0]
	for _, want := range []string{"spade.rollouts/0 at 4", "repeats offset 1", "payload", "the first counts"} {
		if !strings.Contains(f.Detail, want) {
			t.Errorf("%q is missing in %s", want, f)
		}
	}
}

// TestAPoisonRecordIsNamedUntilItsRetryCanBeRead: the repetition of a record that could not be read is the first of its id.
func TestAPoisonRecordIsNamedUntilItsRetryCanBeRead(t *testing.T) {
	s := finished(t, "")
	good := s.records[topics.Rollouts][2]
	bad := good
	bad.Value = []byte{0xff}
	s.records[topics.Rollouts] = s.records[topics.Rollouts][:2]
	bad = s.raw(bad)
	letter(t, s, bad, "bus", "malformed")
	l, r := check(t, s, uuid.Nil)
	found := strings.Join(texts(r), "\n")
	if !strings.Contains(found, "unreadable record spade.rollouts/0 at 2") || !strings.Contains(found, "in the dead letters of bus") ||
		!strings.Contains(found, "missing rollout") {
		t.Fatalf("%s", found)
	}
	if len(l.DeadLetters()) != 1 || l.DeadLetters()[0].Retried {
		t.Errorf("%+v", l.DeadLetters())
	}
	s.retry(bad, good.Value)
	l, r = check(t, s, uuid.Nil)
	if r.Total() != 0 || !l.DeadLetters()[0].Retried || l.Counts.Retried != 1 {
		t.Errorf("%v, %+v", texts(r), l.DeadLetters())
	}
}

// TestARecordThatWasNoEventIsRepairedByItsRetry: it has no id, so that the retry says which record it repeats.
func TestARecordThatWasNoEventIsRepairedByItsRetry(t *testing.T) {
	s := finished(t, "")
	good := s.records[topics.Rollouts][2]
	s.records[topics.Rollouts] = s.records[topics.Rollouts][:2]
	bad := s.raw(event.Record{Topic: good.Topic, Key: good.Key, Value: good.Value})
	if _, r := check(t, s, uuid.Nil); !strings.Contains(strings.Join(texts(r), "\n"), "unreadable record spade.rollouts/0 at 2") {
		t.Fatalf("%v", texts(r))
	}
	bad.Headers = good.Headers // as if a newer program could do without
	s.raw(deadletter.Retry(bad))
	if _, r := check(t, s, uuid.Nil); r.Total() != 0 {
		t.Errorf("%v", texts(r))
	}
}

func TestDeadLettersAreDifferencesUntilTheyAreRetried(t *testing.T) {
	s := finished(t, "")
	first := s.records[topics.Rollouts][0]
	letter(t, s, first, "memory", "embed: "+embedding.ErrTextRefused.Error())
	if l, r := check(t, s, storyRun()); r.Total() != 0 || len(l.DeadLetters()) != 1 {
		t.Errorf("a text that was refused: %v", texts(r))
	}
	letter(t, s, first, "warehouse", "too large")
	if _, r := check(t, s, storyRun()); r.Total() != 1 || !strings.Contains(texts(r)[0], "warehouse could not apply spade.rollouts/0 at 0") {
		t.Errorf("%v", texts(r))
	}
	if l, _ := check(t, s, ids.Run("another")); len(l.DeadLetters()) != 0 {
		t.Errorf("letters of another run: %+v", l.DeadLetters())
	}
	s.retry(first, first.Value)
	if _, r := check(t, s, storyRun()); r.Total() != 0 {
		t.Errorf("%v", texts(r))
	}
}

// letter keeps a record as a consumer does.
func letter(t *testing.T, s *story, r event.Record, consumer, reason string) {
	t.Helper()
	w := deadletter.Writer{Log: letterLog{s}, Source: observe.NewSource("test"), Consumer: consumer}
	if err := w.Record(t.Context(), r, errors.New(reason)); err != nil {
		t.Fatal(err)
	}
}

func TestOnlySoManyFindingsAreKept(t *testing.T) {
	var r Report
	for range 3 * MaxKept {
		r.Add(AreaMemory, "missing point", "x", "")
	}
	r.Add(AreaLog, "bad key", "y", "")
	if r.Total() != 3*MaxKept+1 || len(r.Findings()) != MaxKept+1 || r.Findings()[0].Area != AreaLog {
		t.Errorf("%d, %d kept, first %s", r.Total(), len(r.Findings()), r.Findings()[0])
	}
	if sums := r.Sums(); len(sums) != 2 || sums[1].Count != 3*MaxKept {
		t.Errorf("%+v", sums)
	}
}
