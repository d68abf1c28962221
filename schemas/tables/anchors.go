package tables

import "github.com/seed256f7767/spade/schemas/topics"

// anchors is by topic; it is only read.
var anchors = map[string][]string{
	topics.Runs:         {RunEvents, Iterations},
	topics.Documents:    {DocumentEvents, Embeddings},
	topics.Work:         {DesignRequests},
	topics.Environments: {EnvironmentEvents},
	topics.Rollouts:     {Rollouts, DroppedRollouts},
	topics.Regrets:      {Regrets, DesignerRewards},
	topics.Policies:     {Batches, PolicyEvents},
	topics.Evaluations:  {Evaluations},
	topics.Replays:      {ReplayChecks},
	topics.DeadLetters:  {DeadLetters},
}
