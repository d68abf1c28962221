// Package cgroup puts each worker into a control group of its own, which limits the memory, swap and threads of all its
// processes together and ends them together.
//
// [Find] looks for a place where this process may make groups: version 2 of the interface, version 1, or none, and then
// says why. [Parent.New] makes a group, [Group.Add] puts a process into it, [Group.Kill] and [Group.Remove] end it.
// Groups carry the number and start time of the process that made them, so that [Parent.Sweep] finds those whose maker was
// killed.
package cgroup
