//go:build unix && !linux

package gym

import (
	"os"
	"syscall"
)

func selfCommand() (string, error) { return os.Executable() }

// peakRSS is the most memory that a process that has ended held; this family of systems tells it in bytes.
func peakRSS(state *os.ProcessState) uint64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return uint64(usage.Maxrss)
	}
	return 0
}

// awaitExit cannot wait without taking notice here.
func awaitExit(int) bool { return false }
