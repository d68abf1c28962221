// Package scale measures what more processes bring: how many episodes a second one rollout worker plays, and two, each on a
// core of its own. Begin with BenchmarkRolloutWorkers, which .ci/bench runs.
package scale
