package sandboxtest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Deny makes this process fail at system calls, as older kernels and the profiles of container engines do: those of errnos
// with the error given, and clone with any of the flags with EPERM. It cannot be taken back.
func Deny(errnos map[uint32]unix.Errno, flags uint32) error {
	f := []unix.SockFilter{load(offNr)}
	for nr, errno := range errnos {
		f = append(f, ifEqual(nr, 1), ret(unix.SECCOMP_RET_ERRNO|uint32(errno)))
	}
	if flags != 0 {
		f = append(f, cloneWith(flags)...)
	}
	f = append(f, ret(unix.SECCOMP_RET_ALLOW))
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

const offNr, offFlags = 0, 16

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func ifEqual(value uint32, otherwise uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: otherwise, K: value}
}

// cloneWith refuses a clone with any of the flags.
func cloneWith(flags uint32) []unix.SockFilter {
	return []unix.SockFilter{
		ifEqual(unix.SYS_CLONE, 5), load(offFlags),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: flags},
		ifEqual(0, 1), ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)),
	}
}
