//go:build !amd64

package metric

func dot(a, b []float32) float32 { return dotGo(a, b) }
