package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The access rights that each version of the Landlock interface can take away. All of them are taken away.
const (
	landlockFS1    = 1<<13 - 1
	landlockRefer  = 1 << 13
	landlockTrunc  = 1 << 14
	landlockIoctl  = 1 << 15
	landlockNet    = 1<<0 | 1<<1 // bind and connect, TCP
	landlockUnix   = 1 << 0      // abstract sockets outside the domain
	landlockSignal = 1 << 1      // signals to processes outside the domain

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

// What a program may do with what it reads, with devices, and in its scratch folder: there it may neither execute nor make
// devices and sockets.
const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landlockNode = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	landlockTemp = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | landlockRefer | landlockTrunc
)

// landlockRule allows access to a file or to everything in a folder.
type landlockRule struct {
	path   string
	access uint64
}

// landlockRules are what a program may reach, and no more than its root holds.
func landlockRules(p Program) []landlockRule {
	rules := make([]landlockRule, 0, len(p.Mounts)+len(devices)+1)
	for _, m := range p.Mounts {
		rules = append(rules, landlockRule{m.target(), landlockRead})
	}
	for _, d := range devices {
		rules = append(rules, landlockRule{d, landlockNode})
	}
	return append(rules, landlockRule{ScratchFolder, landlockTemp})
}

func (r landlockRule) add(ruleset uintptr, handled uint64) error {
	fd, err := unix.Open(r.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // only a name
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	access := r.access & handled
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= landlockFile | landlockNode // the others are rights to folders, which the kernel refuses for a file
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("%s: %w", r.path, errno)
	}
	return nil
}

// restrictLandlock denies every access by a ruleset that handles all of them and allows only what rules say. It needs
// no_new_privs.
func restrictLandlock(rules ...landlockRule) error {
	version, err := LandlockVersion()
	if err != nil {
		return err
	}
	attr := landlockAttr(version)
	if version >= 6 && len(rules) > 0 {
		// Not for a Go worker, some of whose threads may be outside the domain and must still be told to pause.
		attr.Scoped |= landlockSignal
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("create ruleset: %w", errno)
	}
	defer unix.Close(int(fd)) //nolint:errcheck // the domain does not depend on the descriptor
	for _, r := range rules {
		if err := r.add(fd, attr.Handled_access_fs); err != nil {
			return fmt.Errorf("allow %w", err)
		}
	}
	var flags uintptr
	if version >= 8 {
		flags = landlockTSync
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, flags, 0); errno != 0 {
		return fmt.Errorf("restrict self: %w", errno)
	}
	return nil
}
