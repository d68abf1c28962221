package sandbox

import (
	"fmt"
	"strings"
)

// Layer is a set of layers.
type Layer uint32

// The layers, the first five in the order in which [Apply] takes them on. The others need help from the parent: it starts
// the process in new namespaces and puts it in a control group. Their numbers are part of the worker protocol.
const (
	Descriptors Layer = 1 << iota
	Rlimits
	NoNewPrivs
	Landlock
	Seccomp
	// Namespaces: own users, processes, mounts, network, System V objects, host name and control groups.
	Namespaces
	// Root: a read-only file system of a few mounts, in place of the machine's.
	Root
	// Privileges: no capability, now or later, and an unprivileged user where the parent may choose one.
	Privileges
	// Cgroup: limits on memory, swap and threads of all processes together.
	Cgroup
)

var layerNames = []struct {
	layer Layer
	name  string
}{
	{Descriptors, "descriptors"},
	{Rlimits, "rlimits"},
	{NoNewPrivs, "no_new_privs"},
	{Landlock, "landlock"},
	{Seccomp, "seccomp"},
	{Namespaces, "namespaces"},
	{Root, "root"},
	{Privileges, "privileges"},
	{Cgroup, "cgroup"},
}

// Layers lists all of them in order.
func Layers() []Layer {
	all := make([]Layer, 0, len(layerNames))
	for _, n := range layerNames {
		all = append(all, n.layer)
	}
	return all
}

// Has reports whether every layer of want is in l.
func (l Layer) Has(want Layer) bool { return l&want == want }

// String lists the names of the layers.
func (l Layer) String() string {
	var names []string
	for _, n := range layerNames {
		if l.Has(n.layer) {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

// Spec says what a process takes on.
type Spec struct {
	// Require are layers without which Apply fails. Want are layers taken where the machine has them.
	Require, Want Layer
	// KeepDescriptors is how many descriptors from 0 up stay open.
	KeepDescriptors int
	// ExtraMemoryBytes is how much writable memory the process may have beyond what it has when Apply is called: most of that
	// is the Go runtime's, which nobody can choose. Zero: no limit.
	ExtraMemoryBytes uint64
	// CPUSeconds ends the process after that much processor time of all its threads. Zero: no limit.
	CPUSeconds uint64
	// OpenFiles is how many descriptors the process may have. Zero: no limit.
	OpenFiles uint64
}

// MissingError says that a required layer cannot be had on this machine.
type MissingError struct {
	Layer  Layer
	Remedy string
	Err    error
}

func (e *MissingError) Error() string {
	msg := fmt.Sprintf("sandbox layer %s is missing on this machine", e.Layer)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		msg += " (" + e.Remedy + ")"
	}
	return msg
}

func (e *MissingError) Unwrap() error { return e.Err }
