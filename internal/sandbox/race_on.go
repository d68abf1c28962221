//go:build race

package sandbox

// instrumented: the race detector maps terabytes of writable shadow memory, so a limit on writable memory has no meaning;
// the outside watchdog alone guards memory in such builds.
const instrumented = true
