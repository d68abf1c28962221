//go:build unix && !linux

package gym

import (
	"os"
	"syscall"
)

// processAttr gives a worker its own session and process group, without a terminal. A worker whose parent dies sees the
// end of its input.
func processAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func selfCommand() (string, error) { return os.Executable() }

// peakRSS is the most memory that a process that has ended held; this family of systems tells it in bytes.
func peakRSS(state *os.ProcessState) uint64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return uint64(usage.Maxrss)
	}
	return 0
}
