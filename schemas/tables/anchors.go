package tables

import "github.com/seed256f7767/spade/schemas/topics"

// Anchor is a table in which every event of some type has at least one row, and the column that holds the id its key ends
// with. Its primary index begins with that column, or with run_id and then it.
type Anchor struct {
	Table  string
	Column string
	ByEnv  bool // the key is run/env, and the primary index begins with run_id
}

// Anchors are the tables to look in for events of a topic that have been inserted already. It is empty for a topic that is not
// in the catalogue.
func Anchors(topic string) []Anchor { return anchors[topic] }

// anchors is by topic; it is only read.
var anchors = map[string][]Anchor{
	topics.Runs:         {{RunEvents, "run_id", false}, {Iterations, "run_id", false}},
	topics.Documents:    {{DocumentEvents, "document_id", false}, {Embeddings, "entity_id", false}},
	topics.Work:         {{DesignRequests, "env_id", true}},
	topics.Environments: {{EnvironmentEvents, "env_id", true}},
	topics.Rollouts:     {{Rollouts, "env_id", true}, {DroppedRollouts, "env_id", true}},
	topics.Regrets:      {{Regrets, "env_id", true}, {DesignerRewards, "env_id", true}},
	topics.Policies:     {{Batches, "run_id", false}, {PolicyEvents, "run_id", false}},
	topics.Evaluations:  {{Evaluations, "run_id", false}},
	topics.Replays:      {{ReplayChecks, "env_id", true}},
	topics.DeadLetters:  {{DeadLetters, "", false}},
}
