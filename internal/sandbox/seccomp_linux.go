package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data; the low half of an argument on the little-endian machines that we support.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// x32Bit marks the x32 calls of amd64, which share the architecture number and would slip past a list of numbers.
const x32Bit = 0x40000000

// cloneForbidden are the flags of clone that make anything but a thread: namespaces, vfork, ptrace, a pidfd.
const cloneForbidden = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_VFORK | unix.CLONE_PTRACE | unix.CLONE_PIDFD

// cloneThread are the flags without which clone makes a process.
const cloneThread = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD

// allowed is what the Go runtime needs once it runs: memory, threads, signals to itself, clocks and the pipes it holds.
var allowed = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_EPOLL_PWAIT,
	unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_MADVISE, unix.SYS_MUNMAP,
	unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGACTION, unix.SYS_SIGALTSTACK, unix.SYS_GETPID,
	unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL, unix.SYS_GETRANDOM, unix.SYS_MINCORE,
	unix.SYS_BRK, unix.SYS_CLOSE, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EVENTFD2,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
}

// killed are calls that nothing in a worker makes, whatever it runs: whoever makes one is attacking.
var killed = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_IO_URING_SETUP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PIDFD_GETFD,
}

const (
	retAllow = unix.SECCOMP_RET_ALLOW
	retKill  = unix.SECCOMP_RET_KILL_PROCESS
	retEPERM = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
)

// filter assembles a seccomp program. Every test is "compare, else skip over what follows", so no jump is ever long.
type filter []unix.SockFilter

func (f *filter) load(offset uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (f *filter) loadArg(i uint32) { f.load(offArgs + 8*i) }

func (f *filter) and(mask uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask})
}

func (f *filter) ret(action uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
}

// ifEqual returns action when the accumulator is value.
func (f *filter) ifEqual(value, action uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: value})
	f.ret(action)
}

// unlessEqual returns action when the accumulator is not value.
func (f *filter) unlessEqual(value, action uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: value})
	f.ret(action)
}

// ifAtLeast returns action when the accumulator is value or more.
func (f *filter) ifAtLeast(value, action uint32) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: value})
	f.ret(action)
}

// when runs body, which must end in a return, if the call is nr; the accumulator still holds the number after it.
func (f *filter) when(nr uint32, body func(*filter)) {
	var inner filter
	body(&inner)
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(len(inner)), K: nr})
	*f = append(*f, inner...)
}

// noExec allows a mapping call unless it asks for executable memory (its third argument).
func noExec(f *filter) {
	f.loadArg(2)
	f.and(unix.PROT_EXEC)
	f.unlessEqual(0, retEPERM)
	f.ret(retAllow)
}

// threadsOnly allows clone for threads.
func threadsOnly(f *filter) {
	f.loadArg(0)
	f.and(cloneThread | cloneForbidden)
	f.unlessEqual(cloneThread, retEPERM)
	f.ret(retAllow)
}

// ownProcess allows a signal to a thread of the process pid (the first argument).
func ownProcess(pid uint32) func(*filter) {
	return func(f *filter) {
		f.loadArg(0)
		f.unlessEqual(pid, retEPERM)
		f.ret(retAllow)
	}
}

// namesMemory allows prctl for naming a mapping only, which the Go runtime does.
func namesMemory(f *filter) {
	f.loadArg(0)
	f.unlessEqual(unix.PR_SET_VMA, retEPERM)
	f.ret(retAllow)
}

// program is the whole allow-list of a Go worker, the process pid.
func program(pid uint32) filter {
	f := begin()
	f.always(allowed)
	f.always(allowedArch)
	f.when(unix.SYS_MMAP, noExec)
	f.when(unix.SYS_MPROTECT, noExec)
	f.when(unix.SYS_CLONE, threadsOnly)
	f.when(unix.SYS_TGKILL, ownProcess(pid))
	f.when(unix.SYS_PRCTL, namesMemory)
	return f.end()
}

// begin refuses calls of other instruction sets; the accumulator holds the call's number after it.
func begin() filter {
	var f filter
	f.load(offArch)
	f.unlessEqual(auditArch, retKill)
	f.load(offNr)
	if runtime.GOARCH == "amd64" {
		f.ifAtLeast(x32Bit, retKill)
	}
	return f
}

func (f *filter) always(calls []uint32) {
	for _, nr := range calls {
		f.ifEqual(nr, retAllow)
	}
}

// end refuses everything that nothing before has allowed.
func (f filter) end() filter {
	// A C library tries clone3 first; its flags lie in memory that a filter cannot read. ENOSYS makes it use clone.
	f.ifEqual(unix.SYS_CLONE3, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))
	for _, nr := range killed {
		f.ifEqual(nr, retKill)
	}
	f.ret(retEPERM)
	return f
}

// installSeccomp puts the allow-list on every thread of the process. It needs no_new_privs.
func installSeccomp() error {
	if auditArch == 0 {
		return fmt.Errorf("no allow-list for %s", runtime.GOARCH)
	}
	return program(uint32(unix.Getpid())).install()
}

// install puts a filter on every thread.
func (f filter) install() error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	r, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("install filter: %w", errno)
	}
	if r != 0 {
		return fmt.Errorf("install filter: thread %d could not take it", r)
	}
	return nil
}
