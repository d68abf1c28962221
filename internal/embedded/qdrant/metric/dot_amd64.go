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
