// Package gate decides whether an environment that a model designed may be played.
//
// [Check] plays the source in fresh workers, two for Starlark and three for Python, and judges what it saw, stage by stage,
// in the order of [Stages]. Every failure is a line of the [Report]; only what is no fault of the source (a cancelled
// context, a closed pool) is an error. All randomness derives from Options.Seed, and the same source with the same options
// gives the same report everywhere; where a clock had a part in it, which only the limits of slow sources have, the report
// says so. Near-duplicates are not judged here: that needs the memory of the run.
//
// How it is made: a session plays and records trajectories (session.go) and plays their moves again elsewhere (replay.go,
// again.go). Where two recordings differ (differs.go), experiments find out why (cause.go). Nothing that a worker tells is
// believed if it can be checked (told.go, ends.go, judge.go).
package gate
