package child

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock knows of file access, by version of its interface.
const (
	accessV1 = 1<<13 - 1 // execute, write, read, and all that makes and removes names
	readOnly = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// readable are the folders that the library and the Go runtime may need.
var readable = []string{"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/nix/store", "/gnu/store"}

// self is this program, also when its file was replaced since.
const self = "/proc/self/exe"

// confine restricts this thread and starts the program again from it, so that the new process is confined as a
// whole: a process that loads a C library without cgo cannot restrict all its threads at once. It returns only when
// that did not work: with errNoSandbox where the kernel has no Landlock, else with an error that ends the child.
func confine(o options, args []string) error {
	runtime.LockOSThread() // and unlocked only before the thread is restricted
	abi, err := landlockABI()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("%w: %w", errNoSandbox, err)
	}
	// The parent's death signal belongs to a thread, and this one becomes the process.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("follow the parent: %w", err)
	}
	if err := restrict(abi, o); err != nil {
		return err
	}
	argv := append([]string{}, os.Args[:len(os.Args)-len(args)]...)
	argv = append(argv, fmt.Sprintf("--confined=landlock v%d: %s", abi, rules(abi)))
	argv = append(argv, args...)
	return fmt.Errorf("start again: %w", unix.Exec(self, argv, os.Environ()))
}

func landlockABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

// rules say in words what restrict does.
func rules(abi int) string {
	all := []string{"writes its own folder only", "reads no home folders", "starts no programs"}
	if abi >= 4 {
		all = append(all, "opens no TCP connections")
	}
	if abi >= 6 {
		all = append(all, "signals no other process")
	}
	return strings.Join(all, ", ")
}

func restrict(abi int, o options) error {
	handled := uint64(accessV1)
	if abi >= 2 {
		handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if abi >= 4 {
		attr.Handled_access_net, size = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, unsafe.Offsetof(attr.Scoped)
	}
	if abi >= 6 {
		attr.Scoped, size = unix.LANDLOCK_SCOPE_SIGNAL|unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, unsafe.Offsetof(attr.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make the rules: %w", errno)
	}
	defer unix.Close(int(fd)) //nolint:errcheck // an open rule set has no effect
	r := ruleset(fd)
	if err := r.allow(handled, o); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules: %w", errno)
	}
	return nil
}

type ruleset uintptr

// allow adds what the child may do. The executable and its loader may be executed once more, to start again.
func (r ruleset) allow(handled uint64, o options) error {
	if err := r.path(o.dir, handled&^unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
		return err
	}
	const fileRead = unix.LANDLOCK_ACCESS_FS_READ_FILE
	if err := r.path(o.lib, fileRead); err != nil {
		return err
	}
	for _, path := range append([]string{self}, loader()...) {
		if err := r.path(path, fileRead|unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
			return err
		}
	}
	for _, path := range append([]string{filepath.Dir(o.lib)}, readable...) {
		if err := r.path(path, readOnly); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return r.path("/dev/null", fileRead|unix.LANDLOCK_ACCESS_FS_WRITE_FILE)
}

func (r ruleset) path(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer unix.Close(fd)                                                               //nolint:errcheck // only a reference
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)} //nolint:gosec // a small number
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}

// loader is the dynamic loader that the executable names, if any.
func loader() []string {
	f, err := elf.Open(self)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	section := f.Section(".interp")
	if section == nil {
		return nil
	}
	text, err := section.Data()
	if err != nil {
		return nil
	}
	return []string{strings.TrimRight(string(text), "\x00")}
}
