// Package progress shows how far something has come: a live picture on a terminal, plain lines in a pipe.
//
// Run shows a whole run and is fed with a State; Bar shows one task that counts something. Both draw through a Live, which
// owns the bottom lines of a terminal, redraws them without flicker and lets log lines pass above them.
package progress
