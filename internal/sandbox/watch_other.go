//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// TreeRSS returns the resident memory of a process, in bytes. A process that has ended counts as zero.
func TreeRSS(pid int) uint64 {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	kib, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// RSS is TreeRSS.
func RSS(pid int) uint64 { return TreeRSS(pid) }

// KillTree ends a process; its descendants are found by their group.
func KillTree(pid int) { _ = unix.Kill(pid, unix.SIGKILL) }

// KillGroup ends every process of a worker's process group. A group that is gone is no error.
func KillGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
		return err
	}
	return nil
}
