// Package gym plays environments that a model wrote, in limited worker processes.
//
// A [Pool] starts workers; [Pool.Open] loads one source into a fresh one and returns a [Worker], which plays many episodes
// of it at once: [Worker.Reset] starts them and [Worker.Step] takes one action of each in one message. A worker is never
// used for a second source, and never for both arms of an environment. Whatever the source does (parse error, endless
// loop, two gigabytes in one step, a crash of the interpreter) comes back as a typed outcome of an episode or as a
// [SourceError]; it never reaches the platform's own process.
//
// Budgets decide, clocks do not: what ends a call is the number of interpreter steps, which is the same everywhere. When a
// worker dies nonetheless (memory, a crash, the wall clock as the backstop), its open episodes are played again in a
// fresh one from their seeds and actions, call by call, and only the call that kills a worker twice is blamed.
//
// The sub-packages: wire is the protocol, interp the Starlark interpreter with its modules, child the inside of a worker,
// portable the static checker for sources that run alike in both languages, gate the acceptance gate, play an environment
// by hand. docs/environments.md tells authors what they may use.
package gym
