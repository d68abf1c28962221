package event

import (
	"bytes"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/ids"
)

// underived finds an id of the payload that is not the one that follows from the parts beside it. Only those are looked at
// that every producer derives so, imports and draws from a fixed pool included, and whose parts all stand in the payload:
// regrets name an environment by nothing but its id, an evaluation's nearest design is another run's as well, and a
// document's id is that of its text, which is not hashed for each reader.
func (s *shape) underived(f *facts) (field string, want uuid.UUID) {
	differs := func(id []byte, derived uuid.UUID) bool {
		want = derived
		return !bytes.Equal(id, derived[:])
	}
	switch s.message {
	case "RunStarted":
		if differs(f.run, ids.Run(string(f.name))) {
			return "run_id", want
		}
	case "DesignRequested", "EnvironmentDesigned", "EnvironmentAccepted", "EnvironmentRejected", "DesignerRewarded":
		// A request is for the first attempt, and has no field for it.
		if differs(f.env, ids.Env(uuid.UUID(f.run), int(f.iteration), int(f.slot), int(f.attempt))) {
			return "env_id", want
		}
		// An import's designs are in no group, and no verdict says which one it is about.
		if len(f.group) > 0 && differs(f.group, ids.DesignGroup(uuid.UUID(f.run), int(f.iteration))) {
			return "design_group", want
		}
	case "RolloutCompleted", "RolloutDropped":
		env, arm := uuid.UUID(f.env), string(f.arm)
		if differs(f.subject, ids.Rollout(env, arm, int(f.seedIndex), int(f.repeat))) {
			return "rollout_id", want
		}
		// The run's configuration says whether an arm's episodes are compared by env seed or all together.
		if len(f.group) > 0 && differs(f.group, ids.Group(env, arm, int(f.seedIndex))) && !bytes.Equal(f.group, wholeArm(env, arm)) {
			return "group_id", want
		}
	case "BatchBuilt":
		if differs(f.subject, ids.Batch(uuid.UUID(f.run), int(f.iteration), string(f.role))) {
			return "batch_id", want
		}
	case "EvaluationCompleted":
		id := ids.Evaluation(uuid.UUID(f.run), f.version, string(f.suite), string(f.task), int(f.seedIndex))
		if differs(f.subject, id) {
			return "evaluation_id", want
		}
	}
	return "", want
}

func wholeArm(env uuid.UUID, arm string) []byte {
	id := ids.Group(env, arm, -1)
	return id[:]
}
