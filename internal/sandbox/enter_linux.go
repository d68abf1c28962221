package sandbox

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Enter confines the calling process and makes it the program. It returns only with an error. The caller must have locked
// its goroutine to its thread, and nothing else may run in the process.
func Enter(p Program) error {
	nobody := unix.Geteuid() == 0 && canMapNobody() // before the root changes and /proc is gone
	unix.Umask(0)                                   // whatever the caller's is, the program must find its way through its root
	var have Layer
	steps := []struct {
		layer Layer
		take  func() error
	}{
		{Namespaces, func() error { return nil }}, // by being started
		{Cgroup, func() error { return nil }},     // by the parent, before the first message
		{Root, func() error { return enterRoot(p) }},
		{Privileges, func() error { return dropPrivileges(nobody) }},
		{NoNewPrivs, setNoNewPrivs},
	}
	for _, s := range steps {
		if !p.Layers.Has(s.layer) {
			continue
		}
		if err := s.take(); err != nil {
			return &MissingError{Layer: s.layer, Remedy: Remedy(s.layer), Err: err}
		}
		have |= s.layer
	}
	// Whatever the process is confined by, it ends with its parent. Changing users or executing what only its owner may read
	// takes back what the parent has set at its start.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("follow the parent: %w", err)
	}
	fd, err := unix.Open(p.Path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", p.Path, err)
	}
	if err := p.limit(); err != nil {
		return &MissingError{Layer: Descriptors | Rlimits, Remedy: Remedy(Rlimits), Err: err}
	}
	have |= p.Layers & (Descriptors | Rlimits)
	if (p.Layers | p.Want).Has(Landlock) {
		err := restrictLandlock(landlockRules(p)...)
		if err != nil && p.Layers.Has(Landlock) {
			return &MissingError{Layer: Landlock, Remedy: Remedy(Landlock), Err: err}
		}
		if err == nil {
			have |= Landlock
		}
	}
	return p.become(fd, have|p.Layers&Seccomp)
}

// limit takes on the limits of the process but those on memory and threads. The descriptors that are not kept are closed
// when the program is executed, for until then the Go runtime may use its own.
func (p Program) limit() error {
	if p.Layers.Has(Descriptors) {
		if err := closeOnExec(p.KeepDescriptors); err != nil {
			return fmt.Errorf("mark descriptors: %w", err)
		}
	}
	if !p.Layers.Has(Rlimits) {
		return nil
	}
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: p.ScratchBytes, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_MEMLOCK: 0}
	for which, value := range map[int]uint64{
		unix.RLIMIT_CPU: p.CPUSeconds, unix.RLIMIT_STACK: p.StackBytes, unix.RLIMIT_NOFILE: p.OpenFiles,
	} {
		if value > 0 {
			limits[which] = value
		}
	}
	for which, value := range limits {
		if err := lower(which, value); err != nil {
			return fmt.Errorf("limit %d: %w", which, err)
		}
	}
	return nil
}

// lower sets a limit, or leaves it where it is lower already.
func lower(which int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value})
}

// threadLimit is a limit on the user's processes, which counts threads. Before Linux 5.14 all processes of the user on the
// machine count, in whatever namespace, so that the number has no meaning there.
func (p Program) threadLimit() uint64 {
	if !p.Layers.Has(Namespaces) || !kernelAtLeast(5, 14) {
		return 0
	}
	return p.Threads
}

func kernelAtLeast(major, minor int) bool {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return false
	}
	var a, b int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

func closeOnExec(first int) error {
	err := unix.CloseRange(uint(first), 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	var limit unix.Rlimit // before Linux 5.11
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for fd := first; fd < int(min(limit.Cur, 1<<20)); fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}

// become installs the filter and executes the program in the next instruction, so that nothing of this process runs
// under a filter that is not made for it.
func (p Program) become(fd int, have Layer) error {
	argv, err := syscall.SlicePtrFromStrings(p.Args(have))
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(p.Env)
	if err != nil {
		return err
	}
	path, err := emptyPath()
	if err != nil {
		return fmt.Errorf("map an empty path: %w", err)
	}
	var f filter
	if p.Layers.Has(Seccomp) {
		if auditArch == 0 {
			return &MissingError{Layer: Seccomp, Remedy: Remedy(Seccomp), Err: unix.ENOTSUP}
		}
		f = interpreterFilter(uint32(unix.Getpid()), uint64(path))
	}
	unix.Umask(0o077)
	threads := p.threadLimit()
	// This process may hold more than the program is to have, so that from here on nothing may need memory or a thread: there
	// are no calls that the scheduler hears of, and no other goroutines.
	if p.Layers.Has(Rlimits) {
		for _, l := range [...]struct {
			which int
			value uint64
		}{{unix.RLIMIT_DATA, p.MemoryBytes}, {unix.RLIMIT_NPROC, threads}} {
			if l.value == 0 {
				continue
			}
			if err := lower(l.which, l.value); err != nil {
				return &MissingError{Layer: Rlimits, Remedy: Remedy(Rlimits), Err: err}
			}
		}
	}
	if f != nil {
		if err := f.install(); err != nil {
			return &MissingError{Layer: Seccomp, Remedy: Remedy(Seccomp), Err: err}
		}
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), path,
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	runtime.KeepAlive(argv)
	runtime.KeepAlive(env)
	return fmt.Errorf("execute %s: %w", p.Path, errno)
}
