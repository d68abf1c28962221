// Package sandbox confines a process that is about to run code written by a model.
//
// A worker calls [Apply] on itself before it reads a single byte of that code, and [Probe] afterwards to see from the
// inside that the layers hold; its parent watches it from outside with [TreeRSS] and ends it with [KillGroup]. The
// layers are independent, so that a hole in one is still behind another:
//
//   - descriptors: everything above those the worker needs is closed;
//   - rlimits: writable memory, CPU seconds, file size, open files, core dumps;
//   - no_new_privs: no set-uid program can raise the worker again;
//   - Landlock: no file, no TCP port, no abstract socket, where the kernel has it;
//   - seccomp: an allow-list of what the Go runtime needs and nothing else. Opening, connecting, forking, executing
//     and signalling others answer EPERM; calls that only an attacker makes end the process.
//
// Layers that a machine lacks are reported by name with what to do about it ([MissingError]); nothing is skipped silently.
package sandbox
