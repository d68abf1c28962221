package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// allowedArch are calls that exist on this architecture only.
var allowedArch = []uint32{unix.SYS_EPOLL_WAIT}
