package wire

// Hello is the first message to a worker: what it must take on before it reads anything else.
type Hello struct {
	// Require and Want are sets of sandbox layers, see package sandbox.
	Require, Want uint32
	// MemoryBytes is what a worker in Go may have beyond what it starts with, and all that an interpreter may have. CPUSeconds
	// and OpenFiles are the other limits of the process. Zero: no limit.
	MemoryBytes, CPUSeconds, OpenFiles uint64
}

// Hello appends a message.
func (e *Encoder) Hello(m Hello) {
	for _, v := range []uint64{uint64(m.Require), uint64(m.Want), m.MemoryBytes, m.CPUSeconds, m.OpenFiles} {
		e.Uint(v)
	}
}

// Hello reads a message.
func (d *Decoder) Hello() Hello {
	return Hello{
		Require: uint32(d.Uint()), Want: uint32(d.Uint()),
		MemoryBytes: d.Uint(), CPUSeconds: d.Uint(), OpenFiles: d.Uint(),
	}
}
