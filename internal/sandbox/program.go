package sandbox

// Mount is a file or folder of the machine that a confined program may read.
type Mount struct {
	// From is where it is. To is where the program finds it; empty: at the same path.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
}

func (m Mount) target() string {
	if m.To != "" {
		return m.To
	}
	return m.From
}

// ScratchFolder is the only folder that a confined program can write to.
const ScratchFolder = "/tmp"

// Program is a program of someone else's, such as an interpreter, and what it is confined by. The process that is to become
// it must have been started with [ProcessAttr].
type Program struct {
	// Layers are taken on, or Enter fails. Those of the parent, Namespaces and Cgroup, are in force already; naming them says
	// so. Want are taken where the machine has them: Landlock is, and no other.
	Layers, Want Layer
	// Path is the executable, as the program will find it: in its own root, where it has one.
	Path string
	// Args makes the arguments, of which the first is the program's name, from the layers that are in force.
	Args func(have Layer) []string
	// Env is the whole environment. None: an empty one.
	Env []string
	// KeepDescriptors is how many descriptors from 0 up stay open. Zero: none. Only the layer Descriptors closes the others.
	KeepDescriptors int
	// Mounts are all that the program can read, with the layer Root or Landlock. None: nothing, so that nothing can be executed.
	Mounts []Mount
	// Hidden are folders inside the mounts that it finds empty, with the layer Root.
	Hidden []string
	// ScratchBytes is the size of [ScratchFolder], with the layer Root, and of the largest file, with Rlimits. Zero: the least
	// folder that can be made, 64 KiB, and files of no size.
	ScratchBytes uint64

	// The following are limits of the layer Rlimits. Zero: as the parent's.

	// MemoryBytes is all the private writable memory that the program may have, its own data included.
	MemoryBytes uint64
	// CPUSeconds is the processor time of all its threads, from the first stage's start.
	CPUSeconds uint64
	// OpenFiles is how many descriptors it may have, those that it begins with included.
	OpenFiles uint64
	// Threads is how many threads all its processes together may have. It takes the layer Namespaces and Linux 5.14 to count
	// them apart from others of the same user; without, there is no limit.
	Threads uint64
	// StackBytes is the size of the first thread's stack, and of others unless the program chooses.
	StackBytes uint64
}
