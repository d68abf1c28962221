package arena

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	// Smaller buffers are left to Go, larger ones are too seldom to be kept.
	minClass = 15 // 32 KiB
	maxClass = 28 // 256 MiB
)

// Allocator is a memory.Allocator. It may be used concurrently. What it keeps is given back when nobody has used it for two
// cycles of the garbage collector.
type Allocator struct {
	small memory.Allocator
	free  [maxClass + 1]sync.Pool // of *[]byte, by the power of two that is their capacity
}

var _ memory.Allocator = (*Allocator)(nil)

// New makes an allocator that keeps nothing yet.
func New() *Allocator { return &Allocator{small: memory.NewGoAllocator()} }

// class is the power of two that a buffer of a size is taken from, or 0 when it is not kept.
func class(size int) int {
	if size <= 1<<(minClass-1) {
		return 0
	}
	c := max(bits.Len(uint(size-1)), minClass)
	if c > maxClass {
		return 0
	}
	return c
}

// Allocate returns a buffer of zeros: what builders skip, such as the values of nulls, must not depend on what was there.
func (a *Allocator) Allocate(size int) []byte {
	c := class(size)
	if c == 0 {
		return a.small.Allocate(size)
	}
	if b, ok := a.free[c].Get().(*[]byte); ok {
		out := (*b)[:size]
		clear(out)
		return out
	}
	return a.small.Allocate(1 << c)[:size]
}

// Reallocate keeps what is in the buffer as far as it fits.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if c := class(cap(b)); c != 0 && cap(b) == 1<<c && size <= cap(b) && size > 1<<(c-2) {
		if size > len(b) {
			clear(b[len(b):size])
		}
		return b[:size]
	}
	out := a.Allocate(size)
	copy(out, b)
	a.Free(b)
	return out
}

// Free takes a buffer back.
func (a *Allocator) Free(b []byte) {
	c := class(cap(b))
	if c == 0 || cap(b) != 1<<c {
		return
	}
	b = b[:0]
	a.free[c].Put(&b)
}
