package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe tries, from inside a confined process, to open a file, make a socket, start a process and lift a limit, and
// returns an error that names what was possible. It changes nothing when the layers in want hold.
func Probe(want Layer) error {
	var open []string
	if want.Has(Seccomp) || want.Has(Landlock) {
		if fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
			open = append(open, "open a folder")
			_ = unix.Close(fd)
		}
	}
	if want.Has(Seccomp) {
		open = append(open, probeSeccomp()...)
	}
	if len(open) > 0 {
		return fmt.Errorf("the sandbox does not hold: the worker could %v", open)
	}
	return nil
}

func probeSeccomp() []string {
	var open []string
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
		open = append(open, "make a socket")
		_ = unix.Close(fd)
	}
	if err := unix.Kill(unix.Getppid(), 0); err == nil {
		open = append(open, "signal its parent")
	}
	// Executing nothing: with the layer the answer is EPERM, without it EFAULT, and neither replaces the program.
	if _, _, errno := unix.RawSyscall(unix.SYS_EXECVE, 0, 0, 0); errno != unix.EPERM {
		open = append(open, "execute a program")
	}
	limit := unix.Rlimit{}
	if _, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&limit)), 0, 0); errno != unix.EPERM {
		open = append(open, "reach its limits")
	}
	return open
}
