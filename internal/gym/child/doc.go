// Package child is the inside of a worker process: the hidden command `spade __gym`.
//
// [Main] reads frames of package wire from standard input and answers on descriptor 3; standard output and standard error
// carry data only. It confines itself before it accepts a source, loads one source in its life, and plays episodes of it
// until its input ends or its parent dies. It keeps no clock of its own over the code it runs: the parent ends it.
package child
