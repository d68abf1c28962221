// Package engine binds libchdb, the ClickHouse engine as a shared library, without cgo.
//
// Load opens the library, Open boots the engine on a folder (one folder a process, one process a folder), and
// Engine.Connect makes a handle. A handle runs one statement at a time and remembers USE and SET, so callers take
// a fresh one for each request: after the first it costs a quarter of a millisecond. Handles run in parallel.
//
// Everything here blocks its operating system thread for as long as the engine works. A running statement is
// stopped from another handle (Engine.Kill), by the tag that Connect was given.
//
// Only the chDB child process may import this package: the library holds about 300 MB and owns its folder.
package engine
