package wire

// ExitMemory is the exit code of a worker in Python that ran out of memory in its own code, where there is no episode to
// give the fault to.
const ExitMemory = 66
