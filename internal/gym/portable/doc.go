// Package portable says whether a source in the functional form means the same in Starlark and in Python.
//
// [Check] is a static check and therefore a careful one: it refuses syntax and names that one of the languages lacks, and
// uses that differ, as far as they can be seen without running the source. docs/environments.md lists them with what to
// write instead.
package portable
