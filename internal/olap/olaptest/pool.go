package olaptest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// StoryWithPool is Story, then an import of one environment and a run that draws it and plays it once.
func StoryWithPool(tb testing.TB) []event.Event {
	tb.Helper()
	s := tell(tb)
	pool, run := ids.Run("pool"), ids.Run("on the pool")
	entry := s.start(pool, "pool", &spadepb.EnvironmentDesigned{})
	drawn := s.start(run, "train", &spadepb.EnvironmentDesigned{PoolEnvId: entry[:]})
	for _, arm := range []string{ids.ArmPlain, ids.ArmHinted} {
		id := ids.Rollout(drawn, arm, 0, 0)
		s.add(topics.EnvKey(run, drawn), id, &spadepb.RolloutCompleted{
			RunId: run[:], RolloutId: id[:], EnvId: drawn[:], Arm: arm, TotalReward: 0.5, Outcome: "failed", Terminated: true,
		})
	}
	return s.events
}

// start tells of a run with one accepted environment, the same one each time but for what is in designed.
func (s *story) start(run uuid.UUID, kind string, designed *spadepb.EnvironmentDesigned) uuid.UUID {
	s.tb.Helper()
	env := ids.Env(run, 0, 0, 0)
	s.add(topics.RunKey(run), run, &spadepb.RunStarted{RunId: run[:], Name: kind, Kind: kind, Config: &spadepb.SemanticConfig{Iterations: 1, Designs: 1}})
	designed.RunId, designed.EnvId, designed.Runtime, designed.Code = run[:], env[:], "python", "META = {}\n"
	designed.Name, designed.Package, designed.PackageVersion = "doors:Shut-v1", "doors", "1.0.0"
	s.add(topics.EnvKey(run, env), env, designed)
	s.add(topics.EnvKey(run, env), env, &spadepb.EnvironmentAccepted{RunId: run[:], EnvId: env[:], Title: "Shut", Kind: "game", MaxSteps: 4, ExpectedPlain: 1})
	return env
}
