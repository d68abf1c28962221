// Package gate decides whether an environment that a model designed may be played.
//
// [Check] plays the source in two fresh workers and judges what it saw, stage by stage, in the order of [Stages]. Every
// failure is a line of the [Report]; only what is no fault of the source (a cancelled context, a closed pool) is an error.
// All randomness derives from Options.Seed, nothing in a report depends on a clock, and the same source with the same
// options gives the same report everywhere. Near-duplicates are not judged here: that needs the memory of the run.
package gate
