package access

import (
	"github.com/seed256f7767/spade/schemas/topics"
)

// Role is a user of the log.
type Role struct {
	Name string
	Does string
	// Reads and Writes are topics. Every role may ask what topics there are and how they are set.
	Reads, Writes []string
	// Groups are the beginnings of the names of the consumer groups that it joins, Watches of those that it looks at.
	Groups, Watches []string
	// Creates says that it makes topics that are missing.
	Creates bool
}

// every is all topics.
func every() []string {
	var names []string
	for _, t := range topics.All(1) {
		names = append(names, t.Name)
	}
	return names
}

// Roles are the users of a cluster. A process that plays several, as spade run does, has the rights of all of them, or is the
// operator's.
func Roles() []Role {
	return []Role{
		{
			Name: "operator", Does: "spade run, up, rebuild, env import, deadletters retry: makes the topics, opens runs and may play every role",
			Reads: every(), Writes: every(), Groups: []string{"spade."}, Watches: []string{"spade."}, Creates: true,
		},
		{
			Name: "corpus", Does: "spade corpus: adds and withdraws documents",
			Reads: []string{topics.Documents}, Writes: []string{topics.Documents},
		},
		{
			Name: "designer", Does: "spade worker designer",
			Reads:  []string{topics.Runs, topics.Policies, topics.Work, topics.Environments},
			Writes: []string{topics.Environments, topics.DeadLetters}, Groups: []string{"spade.designer."},
		},
		{
			Name: "rollout", Does: "spade worker rollout",
			Reads:  []string{topics.Runs, topics.Policies, topics.Environments},
			Writes: []string{topics.Rollouts, topics.DeadLetters}, Groups: []string{"spade.rollout."},
		},
		{
			Name: "scorer", Does: "spade worker scorer",
			Reads:  []string{topics.Runs, topics.Policies, topics.Environments, topics.Rollouts, topics.Regrets},
			Writes: []string{topics.Regrets, topics.DeadLetters}, Groups: []string{"spade.scorer."},
		},
		{
			Name: "trainer", Does: "spade worker trainer: requests designs, closes iterations, trains, evaluates",
			Reads: []string{
				topics.Runs, topics.Work, topics.Environments, topics.Rollouts, topics.Regrets, topics.Policies, topics.Evaluations,
			},
			Writes: []string{topics.Runs, topics.Work, topics.Policies, topics.Evaluations, topics.DeadLetters},
			Groups: []string{"spade.trainer."},
		},
		{
			Name: "policy", Does: "spade worker policy: follows updates and answers other workers",
			Reads: []string{topics.Runs, topics.Policies},
		},
		{
			Name: "memory", Does: "spade worker memory: writes the vectors that an endpoint computed",
			Reads:  []string{topics.Documents, topics.Environments},
			Writes: []string{topics.Documents, topics.DeadLetters}, Groups: []string{"spade.memory."},
		},
		{
			Name: "warehouse", Does: "spade worker warehouse",
			Reads: every(), Writes: []string{topics.DeadLetters}, Groups: []string{"spade.warehouse"},
		},
		{
			Name: "reader", Does: "spade runs, events, digest, verify --as-is, deadletters list",
			Reads: every(), Watches: []string{"spade."},
		},
	}
}
