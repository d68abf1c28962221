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
// Where things are:
//
//   - pool, config, tier: what there is to set, and what is recorded of how workers are confined.
//   - launch, launch_python, python: what makes a process of one runtime or the other, and what Python needs on this machine.
//   - start, reap, talk, proc: one process, from its begin to its last words; spawn and starter own the threads that start
//     them, for a process ends with the thread that started it.
//   - load, worker, exchange, recover: one source in one process after the other, its episodes, batches of calls, and what
//     happens when the process dies under them; believe says what of an answer counts.
//   - cputime, watchdog, diagnose: what ends a process from outside, and why it ended.
//   - selftest, selftest_python, standing: the proof that the sandbox holds, before anything else runs.
//
// The sub-packages: wire is the protocol, interp the Starlark interpreter with its modules, child the inside of its worker,
// python the worker of the other runtime, jail the stage that confines it, portable the static checker for sources that run
// alike in both languages, gate the acceptance gate, hidden the share of a state that no agent sees, pools other people's
// environments. docs/environments.md tells authors what they may use.
package gym
