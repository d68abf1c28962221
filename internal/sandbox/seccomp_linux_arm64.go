package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// allowedArch and programCallsArch are calls that exist on this architecture only.
var (
	allowedArch      = []uint32{}
	programCallsArch = []uint32{unix.SYS_FSTATAT, unix.SYS_RENAMEAT, unix.SYS_GETRLIMIT}
)
