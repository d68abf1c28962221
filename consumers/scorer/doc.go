// Package scorer turns the episodes of an environment into its regret and the designer's pay.
//
// Begin with Partition, the fold of one partition of spade.environments and spade.rollouts: it collects every
// environment's group and, once the group is complete, makes the events that close it. estimators.go has the formulas,
// pay.go what the designer is paid.
package scorer
