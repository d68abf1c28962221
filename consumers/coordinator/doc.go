// Package coordinator leads a run: it asks for the designs of an iteration, closes the iteration when all of it is
// terminal, and finishes the run. It decides from the log alone, so that whichever process leads comes to the same events.
//
// Begin with Coordinator: Add folds the log, in any order; Next makes what the run lacks now.
package coordinator
