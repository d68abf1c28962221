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
	// Layers are taken on as far as they are not the parent's. Want are taken where the machine has them.
	Layers, Want Layer
	// Path is the executable, as the program will find it. Args has the layers that are in force, and makes its arguments.
	Path string
	Args func(have Layer) []string
	Env  []string
	// KeepDescriptors is how many descriptors from 0 up stay open.
	KeepDescriptors int
	// Mounts are all that the program can read.
	Mounts []Mount
	// Hidden are folders inside the mounts that it finds empty.
	Hidden []string
	// ScratchBytes is the size of [ScratchFolder], and of the largest file.
	ScratchBytes uint64
	// MemoryBytes bounds writable memory, CPUSeconds the life's CPU time, OpenFiles the descriptors, Threads what the name
	// says, StackBytes the stack of each thread.
	MemoryBytes, CPUSeconds, OpenFiles, Threads, StackBytes uint64
}
