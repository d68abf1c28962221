package sandbox

import "golang.org/x/sys/unix"

// programCalls are what CPython and numerical libraries need beyond what a Go worker does: files, of which the root and
// Landlock say which; descriptors; the numbers of the process and what the machine is.
var programCalls = []uint32{
	unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK, unix.SYS_FSTAT, unix.SYS_STATX,
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64,
	unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_UMASK,
	unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_RENAMEAT2, unix.SYS_SYMLINKAT, unix.SYS_LINKAT, unix.SYS_FTRUNCATE,
	unix.SYS_TRUNCATE, unix.SYS_UTIMENSAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_FLOCK, unix.SYS_FADVISE64, unix.SYS_FALLOCATE,
	unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_CLOSE_RANGE,
	unix.SYS_MREMAP, unix.SYS_MSYNC, unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MEMBARRIER,
	unix.SYS_SET_TID_ADDRESS, unix.SYS_GET_ROBUST_LIST, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_GETCPU,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETPPID, unix.SYS_GETPGID, unix.SYS_GETSID,
	unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRUSAGE,
	unix.SYS_TIMES, unix.SYS_CLOCK_GETRES, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND,
	// Both ends of a pair are the process's own: it is the pipe on which an event loop of Python wakes itself.
	unix.SYS_RECVFROM, unix.SYS_SHUTDOWN,
}

// Commands of ioctl by their numbers on amd64 and arm64.
const (
	fioNclex = 0x5450
	fioClex  = 0x5451
	fioNread = 0x541b
	fioNbio  = 0x5421
)

// The commands of ioctl and fcntl that a program has use for. All others, terminals and asynchronous signals among them,
// are refused.
var (
	programIoctls = []uint32{unix.TCGETS, fioClex, fioNclex, fioNread, fioNbio}
	programFcntls = []uint32{
		unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
		unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_GETPIPE_SZ,
	}
	programPrctls = []uint32{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_GET_DUMPABLE}
)

// interpreterFilter is the allow-list of a program that the process pid becomes by one execution, with the path at that
// address. It may have executable memory, which foreign-function interfaces need: it executes what it likes already.
func interpreterFilter(pid uint32, path uint64) filter {
	f := begin()
	f.always(allowed)
	f.always(allowedArch)
	f.always(programCalls)
	f.always(programCallsArch)
	f.when(unix.SYS_IOCTL, oneOf(1, programIoctls...))
	f.when(unix.SYS_FCNTL, oneOf(1, programFcntls...))
	f.when(unix.SYS_PRCTL, oneOf(0, programPrctls...))
	f.when(unix.SYS_CLONE, threadsOnly)
	f.when(unix.SYS_TGKILL, ownProcess(pid))
	f.when(unix.SYS_KILL, ownProcess(pid))
	f.when(unix.SYS_PRLIMIT64, readsLimits)
	f.when(unix.SYS_SOCKETPAIR, oneOf(0, unix.AF_UNIX))
	f.when(unix.SYS_SENDTO, zero(4))
	f.when(unix.SYS_EXECVEAT, executesOnce(path))
	return f.end()
}

// oneOf allows a call whose argument i is one of the values.
func oneOf(i uint32, values ...uint32) func(*filter) {
	return func(f *filter) {
		f.loadArg(i)
		f.always(values)
		f.ret(retEPERM)
	}
}

// zero allows a call whose argument i, a pointer, is none.
func zero(i uint32) func(*filter) {
	return func(f *filter) {
		for _, half := range []uint32{0, 4} {
			f.load(offArgs + 8*i + half)
			f.unlessEqual(0, retEPERM)
		}
		f.ret(retAllow)
	}
}

// readsLimits allows prlimit without new limits (its third argument) for the process itself.
func readsLimits(f *filter) {
	f.loadArg(0)
	f.unlessEqual(0, retEPERM)
	zero(2)(f)
}

// executesOnce allows execveat where its path (the second argument) is at the address and the descriptor itself is meant,
// and ends the process at any other. A filter cannot read a path, and the descriptor says nothing where the path is absolute;
// but the address is gone with the memory of the process that knew it, so that a program could only guess, once. There is
// no way around it by execve, which is refused like every call that is not in the list.
func executesOnce(path uint64) func(*filter) {
	return func(f *filter) {
		f.loadArg(1)
		f.unlessEqual(uint32(path), retKill)
		f.load(offArgs + 8*1 + 4)
		f.unlessEqual(uint32(path>>32), retKill)
		f.loadArg(4)
		f.unlessEqual(unix.AT_EMPTY_PATH, retKill)
		f.ret(retAllow)
	}
}
