// Package jail is the first stage of a worker that becomes somebody else's program, the Python interpreter. [Main] runs in
// the process that the platform has started in new namespaces: it reads one message, the hello with the layers and limits,
// confines itself as package sandbox knows how to, and executes the interpreter in its own place. [Options] is its only
// argument. It never sees a line of an environment's code, which the platform sends to the interpreter afterwards.
package jail
