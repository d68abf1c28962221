//go:build !linux

package rebuild

func soaking() {}
