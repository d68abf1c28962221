// Package maker names what a process leaves on the machine while it lives, control groups and folders, so that a later
// process can tell whether the maker still does: one that was killed could not clean up. A [Name] says who made a thing;
// [Gone] reports whether that process has ended.
package maker
