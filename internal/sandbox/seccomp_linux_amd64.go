package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// allowedArch and programCallsArch are calls that exist on this architecture only.
var (
	allowedArch      = []uint32{unix.SYS_EPOLL_WAIT}
	programCallsArch = []uint32{
		unix.SYS_ARCH_PRCTL, unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_ACCESS,
		unix.SYS_READLINK, unix.SYS_UNLINK, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK,
		unix.SYS_SYMLINK, unix.SYS_CHMOD, unix.SYS_DUP2, unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_CREATE,
		unix.SYS_GETRLIMIT, unix.SYS_GETPGRP, unix.SYS_TIME, unix.SYS_GETDENTS,
	}
)
