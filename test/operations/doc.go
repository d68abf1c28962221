// Package operations tests the program as who operates it meets it: asked to end in the middle of a run, watched from
// outside, its spans collected. The tests run the real program.
package operations
