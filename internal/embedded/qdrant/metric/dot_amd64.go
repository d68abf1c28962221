package metric

import "golang.org/x/sys/cpu"

// haveAVX2 is read once: a processor does not change under a running program.
var haveAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func dot(a, b []float32) float32 {
	if haveAVX2 {
		return dotAVX2(&a[0], &b[0], len(a))
	}
	return dotGo(a, b)
}

// dotAVX2 is in dot_amd64.s; both pointers reach n floats.
//
//go:noescape
func dotAVX2(a, b *float32, n int) float32

func haveSketches() bool { return haveAVX2 }

func dotBytes(a, b []int8) int32 {
	if haveAVX2 && len(a) > 0 {
		return dotBytesAVX2(&a[0], &b[0], len(a))
	}
	return dotBytesGo(a, b)
}

// dotBytesAVX2 is in dot_amd64.s; both pointers reach n bytes, a multiple of 32
// above zero.
//
//go:noescape
func dotBytesAVX2(a, b *int8, n int) int32
