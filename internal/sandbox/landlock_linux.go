package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The access rights that each version of the Landlock interface can take away. All of them are taken away.
const (
	landlockFS1   = 1<<13 - 1
	landlockRefer = 1 << 13
	landlockTrunc = 1 << 14
	landlockIoctl = 1 << 15
	landlockNet   = 1<<0 | 1<<1 // bind and connect, TCP
	landlockUnix  = 1 << 0      // abstract sockets outside the domain

	landlockTSync = 1 << 3 // from version 8: all threads, not only the calling one
)

// LandlockVersion returns the version of the kernel's Landlock interface, or an error where it has none.
func LandlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("landlock: %w", errno)
	}
	return int(v), nil
}

func landlockAttr(version int) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockFS1}
	if version >= 2 {
		attr.Handled_access_fs |= landlockRefer
	}
	if version >= 3 {
		attr.Handled_access_fs |= landlockTrunc
	}
	if version >= 4 {
		attr.Handled_access_net = landlockNet
	}
	if version >= 5 {
		attr.Handled_access_fs |= landlockIoctl
	}
	if version >= 6 {
		attr.Scoped = landlockUnix
	}
	return attr
}

// restrictLandlock denies every access by a ruleset that handles all of them and allows none. It needs no_new_privs.
func restrictLandlock() error {
	version, err := LandlockVersion()
	if err != nil {
		return err
	}
	attr := landlockAttr(version)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("create ruleset: %w", errno)
	}
	defer unix.Close(int(fd)) //nolint:errcheck // the domain does not depend on the descriptor
	var flags uintptr
	if version >= 8 {
		flags = landlockTSync
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, flags, 0); errno != 0 {
		return fmt.Errorf("restrict self: %w", errno)
	}
	return nil
}
