package verify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// lied is the records that no reader takes for events, of ids that honest ones have.
func lied(t *testing.T) []event.Record {
	t.Helper()
	run, other, env := storyRun(), ids.Run("other"), storyEnv(0)
	rollout := ids.Rollout(env, ids.ArmPlain, 0, 0)
	s := newStory(t)
	return []event.Record{
		s.add(topics.RunKey(run), run, &spadepb.RunFinished{RunId: other[:], Status: "finished", Designed: 99}),
		s.add(topics.EnvKey(run, env), rollout, &spadepb.RolloutCompleted{
			RunId: run[:], RolloutId: rollout[:], EnvId: env[:], Arm: ids.ArmPlain, Outcome: "solved", TotalReward: math.NaN(),
		}),
		s.add(topics.EnvKey(run, env), env, &spadepb.RegretUnavailable{RunId: run[:], EnvId: rollout[:]}),
	}
}

// TestALieHidesNothing: what no reader takes for an event is named and counts for nothing, wherever it stands.
func TestALieHidesNothing(t *testing.T) {
	want, _ := check(t, finished(t, ""), uuid.Nil)
	for i, lie := range lied(t) {
		for _, first := range []bool{true, false} {
			s := finished(t, "")
			honest := s.records[lie.Topic]
			s.records[lie.Topic] = nil
			if first {
				s.raw(lie)
			}
			for _, r := range honest {
				s.raw(r)
			}
			if !first {
				s.raw(lie)
			}
			l, r := check(t, s, uuid.Nil)
			if found := texts(r); len(found) != 1 || !strings.Contains(found[0], "unreadable record "+lie.Topic) {
				t.Errorf("lie %d, first %v: %s", i, first, strings.Join(found, "\n"))
			}
			if got := l.Runs(); len(got) != 1 || got[0] != want.Runs()[0] {
				t.Errorf("lie %d, first %v: %+v, want %+v", i, first, got, want.Runs())
			}
			if l.Counts.Repeated+l.Counts.RepeatedOther > 0 {
				t.Errorf("lie %d, first %v: %+v", i, first, l.Counts)
			}
		}
	}
}

// TestALieHidesNoLoss: what a lie stands for is missing.
func TestALieHidesNoLoss(t *testing.T) {
	lie := lied(t)[1]
	s := finished(t, "rollout plain 0")
	s.raw(lie)
	_, r := check(t, s, uuid.Nil)
	if found := texts(r); !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "missing rollout") }) {
		t.Errorf("%s", strings.Join(found, "\n"))
	}
}
