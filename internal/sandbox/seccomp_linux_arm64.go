package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// allowedArch are calls that exist on this architecture only.
var allowedArch = []uint32{}
