package gym

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfCommand starts this very program, even when its file has been replaced meanwhile.
func selfCommand() (string, error) { return "/proc/self/exe", nil }

// peakRSS is the most memory that a process that has ended held.
func peakRSS(state *os.ProcessState) uint64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return uint64(usage.Maxrss) << 10
	}
	return 0
}

// awaitExit waits until a child has ended, without taking notice of it: its number stays its own until it is waited for.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
