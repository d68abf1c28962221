// Package sandbox confines processes that run code written by a model.
//
// Two kinds of process are confined, and they share the layers ([Layer]). Independent layers stand behind each other, so that
// a hole in one is still behind another. One that a machine lacks is reported by name with what to do about it
// ([MissingError]); nothing is skipped silently.
//
// # A worker in Go
//
// It confines itself in the middle of its life, so that it can take on only what a process of many threads can:
//
//  1. The parent starts it as [ProcessAttr] says: a session of its own, ended together with its parent.
//  2. The parent sends the hello, which says what is to be taken on. Nothing untrusted is sent before the answer.
//  3. The worker calls [Apply], which takes on, in this order: descriptors and limits (both read /proc, which is closed
//     afterwards), no_new_privs (the kernel asks it of the next two), Landlock, and at last seccomp, because its
//     allow-list has none of the calls before.
//  4. It answers with the layers in force. The parent has one worker call [Probe] before any of them gets a source.
//
// # A program of others
//
// An interpreter cannot be asked to confine itself, and what it is to be confined by is more. So a first stage, which is
// this program again (package gym/jail), takes everything on and then becomes the interpreter:
//
//	parent  clone         ProcessAttr: all namespaces are new, and the process is the first of its own. It starts as
//	                      user 0 there, because only that one may mount.
//	parent  group         The process joins a control group (package cgroup). It waits for the hello meanwhile, so that
//	                      what it does and holds from then on counts for the group.
//	parent  hello         The layers and limits, on the pipe by which the interpreter later gets its messages.
//	stage   root          Enter: the machine's file system is replaced by an empty one with the mounts. First of all,
//	                      for it takes the privileges that the next step gives up, and paths mean something else
//	                      afterwards.
//	stage   privileges    Every capability is dropped for good; a privileged parent's child becomes nobody.
//	stage   no_new_privs  No program gives any of that back. Landlock and seccomp ask for it.
//	stage   death         The process is to end with its parent. It began so, but changing users took it back.
//	stage   open          The interpreter's file, while the stage may still open any.
//	stage   limits        Descriptors are marked to be closed by the execution; limits on files, processor time,
//	                      descriptors and the stack.
//	stage   Landlock      After the mounts, since it can allow only paths that are there.
//	stage   address       An empty path is put at an address that is drawn by chance, see executesOnce.
//	stage   memory        With threads the last limits. The stage may hold more than the interpreter is to have, so that
//	                      nothing may need memory or a thread from here on.
//	stage   seccomp       The interpreter's allow-list, last, for it lacks what the steps before need. It allows one
//	                      execution.
//	stage   execute       The open file, by the address. The stage's memory is gone, and the address with it.
//	worker  ready         The interpreter is told which layers are in force, and says so in its first message.
//	parent  Inspect       Before any source runs, at the test at the start: what can be seen from outside must agree.
//
// A step that fails ends the stage with an error that the parent is told; the interpreter is not executed then.
//
// # From outside
//
// The parent watches a process with [TreeRSS] and [UsageOf], and ends it with [KillTree], [KillGroup] or its control
// group. Package cgroup makes those groups, package maker names what must be removed when its maker was killed, and
// package sandboxtest runs tests as another user or on what looks like an older kernel.
//
// docs/sandbox.md says what each layer stops and which test shows it.
package sandbox
