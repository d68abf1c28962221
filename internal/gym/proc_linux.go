package gym

import (
	"os"
	"syscall"
)

// processAttr gives a worker its own session and process group, without a terminal, and ties its life to ours.
func processAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// selfCommand starts this very program, even when its file has been replaced meanwhile.
func selfCommand() (string, error) { return "/proc/self/exe", nil }

// peakRSS is the most memory that a process that has ended held.
func peakRSS(state *os.ProcessState) uint64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return uint64(usage.Maxrss) << 10
	}
	return 0
}
