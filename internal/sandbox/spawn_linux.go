package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// NobodyID is the user and group that a program becomes when a privileged process confines it.
const NobodyID = 65534

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// ProcessAttr is how to start a process that will confine itself: in a session of its own without a terminal, ended
// together with the thread that starts it, and with [Namespaces] among the layers in new ones. In these it begins as user 0,
// which is the caller's own user outside, because only that one may mount; a privileged caller gives it [NobodyID] to become.
func ProcessAttr(layers Layer) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if !layers.Has(Namespaces) {
		return attr
	}
	attr.Cloneflags = newNamespaces
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	if os.Geteuid() == 0 && canMapNobody() {
		nobody := syscall.SysProcIDMap{ContainerID: NobodyID, HostID: NobodyID, Size: 1}
		attr.UidMappings, attr.GidMappings = append(attr.UidMappings, nobody), append(attr.GidMappings, nobody)
		attr.GidMappingsEnableSetgroups = true
	}
	return attr
}

// canMapNobody reports whether the user exists in the caller's own namespace: in a container that maps one user only, the
// caller is unprivileged outside already.
func canMapNobody() bool { return mapsNobody("/proc/self/uid_map") && mapsNobody("/proc/self/gid_map") }

func mapsNobody(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		var first, outside, count uint64
		if _, err := fmt.Sscan(line, &first, &outside, &count); err == nil && first <= NobodyID && NobodyID < first+count {
			return true
		}
	}
	return false
}
