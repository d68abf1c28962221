//go:build !race

package sandbox

const instrumented = false
