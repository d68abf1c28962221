package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxTree bounds the walk over a process tree that grows while it is measured.
const maxTree = 4096

// TreeRSS returns the resident memory of a process and all its descendants, in bytes. A process that has ended counts as
// zero.
func TreeRSS(pid int) uint64 {
	var total uint64
	queue := []int{pid}
	for i := 0; i < len(queue) && i < maxTree; i++ {
		total += RSS(queue[i])
		queue = append(queue, children(queue[i])...)
	}
	return total
}

// RSS returns the resident memory of one process, in bytes. A process that has ended counts as zero.
func RSS(pid int) uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// children reads the kernel's lists for every thread, each of which may have started processes.
func children(pid int) []int {
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil
	}
	var pids []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range bytes.Fields(data) {
			if child, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// KillTree ends a process and all its descendants, those in groups and sessions of their own included. One whose parent
// has ended before is nobody's descendant; a process namespace or a control group is needed to find that.
func KillTree(pid int) {
	queue := []int{pid}
	for i := 0; i < len(queue) && i < maxTree; i++ {
		_ = unix.Kill(queue[i], unix.SIGSTOP) // it starts no more while the tree is read; it may have ended
		queue = append(queue, children(queue[i])...)
	}
	for _, pid := range queue {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// KillGroup ends every process of a worker's process group. A group that is gone is no error.
func KillGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
		return err
	}
	return nil
}
