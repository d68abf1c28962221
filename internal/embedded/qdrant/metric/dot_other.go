//go:build !amd64

package metric

func dot(a, b []float32) float32 { return dotGo(a, b) }

func haveSketches() bool { return false }

func dotBytes(a, b []int8) int32 { return dotBytesGo(a, b) }
