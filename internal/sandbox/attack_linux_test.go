package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tests start this binary again as a process under attack: `__attack LAYERS NAME ARG` confines itself with LAYERS,
// runs the attack NAME and prints "worked" or why it did not.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__parent" {
		os.Exit(parentMain())
	}
	if len(os.Args) == 5 && os.Args[1] == "__attack" {
		os.Exit(attackMain(os.Args[2], os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

func attackMain(layers, name, arg string) int {
	runtime.LockOSThread()
	mask, err := strconv.ParseUint(layers, 10, 32)
	if err != nil {
		return 3
	}
	if name == "poller" {
		time.Sleep(time.Millisecond) // starts the runtime's network poller, as a background timer may do at any time
	}
	_, err = Apply(Spec{
		Require: Layer(mask), KeepDescriptors: 3, ExtraMemoryBytes: 128 << 20, CPUSeconds: 60, OpenFiles: 16,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if err := attacks[name](arg); err != nil {
		say("denied: " + err.Error())
		return 0
	}
	say("worked")
	return 0
}

// say writes without the os package, which may call what the filter refuses.
func say(s string) { _, _ = unix.Write(1, []byte(s)) }

func errnoErr(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// attacks are what code that broke out of its interpreter would try: plain system calls.
var attacks = map[string]func(arg string) error{
	// No attack: a timer of the runtime, which needs the poller's descriptor.
	"poller": func(string) error {
		for range 20 {
			time.Sleep(time.Millisecond)
		}
		return nil
	},
	"open": func(path string) error {
		fd, err := unix.Open(path, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		buf := make([]byte, 6)
		if n, err := unix.Read(fd, buf); err != nil || string(buf[:n]) != "canary" {
			return fmt.Errorf("read %q: %w", buf[:n], err)
		}
		return nil
	},
	"create": func(path string) error {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	},
	"connect": func(port string) error {
		p, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Connect(fd, &unix.SockaddrInet4{Port: p, Addr: [4]byte{127, 0, 0, 1}})
	},
	"udp": func(string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
	},
	"fork": func(string) error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid == 0 {
			unix.Exit(0)
		}
		return errnoErr(errno)
	},
	"clone3": func(string) error {
		args := [8]uint64{4: uint64(unix.SIGCHLD)} // struct clone_args, its fifth word is the exit signal
		pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
		if errno == 0 && pid == 0 {
			unix.Exit(0)
		}
		return errnoErr(errno)
	},
	"exec": func(string) error {
		return unix.Exec("/bin/echo", []string{"echo", "-n", "worked"}, nil)
	},
	"signal": func(pid string) error {
		p, err := strconv.Atoi(pid)
		if err != nil {
			return err
		}
		return unix.Kill(p, 0)
	},
	"ptrace": func(string) error {
		_, _, errno := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
		return errnoErr(errno)
	},
	"unshare": func(string) error { return unix.Unshare(unix.CLONE_NEWUTS) },
	"iouring": func(string) error {
		var params [120]byte
		_, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		return errnoErr(errno)
	},
	"execmem": func(string) error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
		return err
	},
	"inherited": func(string) error {
		buf := make([]byte, 6)
		n, err := unix.Read(3, buf)
		if err == nil && string(buf[:n]) != "canary" {
			return errors.New("something else")
		}
		return err
	},
	"memory": func(string) error {
		hog := make([]byte, 1<<30)
		for i := 0; i < len(hog); i += 4096 {
			hog[i] = 1
		}
		runtime.KeepAlive(hog)
		return nil
	},
	"raise": func(string) error {
		// Only with no_new_privs off can a set-uid program give this process more than it has.
		on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		if err != nil {
			return err
		}
		if on == 1 {
			return errors.New("no new privileges")
		}
		return nil
	},
	"terminal": func(string) error {
		// Typing into the controlling terminal: the call itself is refused, whatever the descriptor is.
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, 0)
		if errno == unix.EPERM {
			return errno
		}
		return nil
	},
}

const all = Descriptors | Rlimits | NoNewPrivs | Landlock | Seccomp

// attack runs one attack under layers and returns what it printed, or how it died.
func attack(t *testing.T, layers Layer, name, arg string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	canary, err := os.Open(writeCanary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer canary.Close()
	cmd := exec.Command(exe, "__attack", strconv.FormatUint(uint64(layers), 10), name, arg)
	cmd.Env = []string{"GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"}
	cmd.ExtraFiles = []*os.File{canary}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		t.Fatalf("setting up %s: %s", name, stderr.String())
	case errors.As(err, &exit):
		return "died: " + exit.String() + firstLine(stderr.String())
	case err != nil:
		t.Fatal(err)
	}
	return stdout.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return " " + line
}

func writeCanary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(path, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every attack works without the layers that stop it and fails with any one of them, all else equal. An attack that
// fails without its layers would prove nothing.
func TestAttacks(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	canary := writeCanary(t)
	fresh := filepath.Join(t.TempDir(), "created")

	tests := []struct {
		name, arg string
		stopped   []Layer // each of these alone stops it
		dies      string  // how the process ends, where it does
	}{
		{name: "open", arg: canary, stopped: []Layer{Landlock, Seccomp}},
		{name: "create", arg: fresh, stopped: []Layer{Landlock, Seccomp}},
		{name: "connect", arg: port, stopped: []Layer{Landlock, Seccomp}},
		{name: "udp", stopped: []Layer{Seccomp}},
		{name: "fork", stopped: []Layer{Seccomp}},
		{name: "clone3", stopped: []Layer{Seccomp}},
		{name: "exec", stopped: []Layer{Landlock, Seccomp}},
		{name: "signal", arg: strconv.Itoa(os.Getpid()), stopped: []Layer{Seccomp}},
		{name: "ptrace", stopped: []Layer{Seccomp}, dies: "bad system call"},
		{name: "unshare", stopped: []Layer{Seccomp}, dies: "bad system call"},
		{name: "iouring", stopped: []Layer{Seccomp}, dies: "bad system call"},
		{name: "execmem", stopped: []Layer{Seccomp}},
		{name: "terminal", stopped: []Layer{Seccomp}},
		{name: "inherited", stopped: []Layer{Descriptors}},
		{name: "raise", stopped: []Layer{NoNewPrivs}},
	}
	if !instrumented {
		tests = append(tests, struct {
			name, arg string
			stopped   []Layer
			dies      string
		}{name: "memory", stopped: []Layer{Rlimits}, dies: "exit status 2"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stopping Layer
			for _, l := range tt.stopped {
				stopping |= l
			}
			open := all &^ stopping
			if stopping.Has(NoNewPrivs) {
				open &^= Landlock | Seccomp // root may install these without it, others may not
			}
			if got := attack(t, open, tt.name, tt.arg); got != "worked" {
				t.Errorf("without %s: %q, so the attack proves nothing", stopping, got)
			}
			for _, l := range tt.stopped {
				got := attack(t, open|l, tt.name, tt.arg)
				want := "denied: "
				if tt.dies != "" && l != Landlock {
					want = "died: "
				}
				if !strings.HasPrefix(got, want) || !strings.Contains(got, tt.dies) {
					t.Errorf("with %s: %q", l, got)
				}
			}
			if got := attack(t, all, tt.name, tt.arg); got == "worked" || got == "" {
				t.Errorf("with all layers: %q", got)
			}
		})
	}
}

// A process may have used timers before it confines itself, and goes on to use them.
func TestTheRuntimesOwnDescriptorsStay(t *testing.T) {
	if got := attack(t, all, "poller", ""); got != "worked" {
		t.Errorf("a timer after Apply: %q", got)
	}
}

// The filter on the wire must refuse calls of another instruction set, which share numbers with other meanings.
func TestForeignCallsDie(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Log("only amd64 has a second instruction set in one process")
		return
	}
	f := program(1)
	if !evaluatesTo(f, auditArch, unix.SYS_READ|x32Bit, retKill) {
		t.Error("an x32 call passes")
	}
	if !evaluatesTo(f, unix.AUDIT_ARCH_I386, 3, retKill) {
		t.Error("an i386 call passes")
	}
	if !evaluatesTo(f, auditArch, unix.SYS_READ, retAllow) {
		t.Error("read is refused, so the test proves nothing")
	}
}

// evaluatesTo interprets the few instructions that the filter consists of; arguments that are not given are zero.
func evaluatesTo(f filter, arch, nr, want uint32, args ...uint64) bool {
	words := map[uint32]uint32{offNr: nr, offArch: arch}
	for i, arg := range args {
		at := uint32(offArgs + 8*i)
		words[at], words[at+4] = uint32(arg), uint32(arg>>32)
	}
	var acc uint32
	for pc := 0; pc < len(f); pc++ {
		in := f[pc]
		jump := func(cond bool) {
			if cond {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = words[in.K]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(acc == in.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(acc >= in.K)
		case unix.BPF_RET | unix.BPF_K:
			return in.K == want
		}
	}
	return false
}

// A program is executed once, by an address that only its first stage knew; whoever guesses has one guess.
func TestExecutesByOneAddressOnly(t *testing.T) {
	const path = 0x12_3456_789a
	f := interpreterFilter(1, path)
	for name, tt := range map[string]struct {
		nr, want uint32
		args     []uint64
	}{
		"the address":       {unix.SYS_EXECVEAT, retAllow, []uint64{7, path, 1, 1, unix.AT_EMPTY_PATH}},
		"its low half":      {unix.SYS_EXECVEAT, retKill, []uint64{7, path & (1<<32 - 1), 1, 1, unix.AT_EMPTY_PATH}},
		"its high half":     {unix.SYS_EXECVEAT, retKill, []uint64{7, path + 1, 1, 1, unix.AT_EMPTY_PATH}},
		"another flag":      {unix.SYS_EXECVEAT, retKill, []uint64{7, path, 1, 1, unix.AT_EMPTY_PATH | unix.AT_SYMLINK_NOFOLLOW}},
		"no address":        {unix.SYS_EXECVEAT, retKill, []uint64{7, 0, 1, 1, unix.AT_EMPTY_PATH}},
		"the other call":    {unix.SYS_EXECVE, retEPERM, []uint64{path, 1, 1}},
		"one that is usual": {unix.SYS_OPENAT, retAllow, nil},
	} {
		if !evaluatesTo(f, auditArch, tt.nr, tt.want, tt.args...) {
			t.Errorf("%s: call %d with %#x is not answered by %#x", name, tt.nr, tt.args, tt.want)
		}
	}
}

// The address is another one each time, holds an empty text and has as many bits as can be had.
func TestEmptyPath(t *testing.T) {
	seen := map[uintptr]bool{}
	var differing uintptr
	var first uintptr
	for range 64 {
		at, err := emptyPath()
		if err != nil {
			t.Fatal(err)
		}
		page := at &^ uintptr(unix.Getpagesize()-1)
		defer func() { _, _, _ = unix.RawSyscall(unix.SYS_MUNMAP, page, uintptr(unix.Getpagesize()), 0) }()
		if seen[at] {
			t.Errorf("%#x twice", at)
		}
		if first == 0 {
			first = at
		}
		seen[at] = true
		differing |= at ^ first
		// The kernel reads the path and executes the descriptor, which is none.
		if _, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, ^uintptr(0), at, 0, 0, unix.AT_EMPTY_PATH, 0); errno != unix.EBADF {
			t.Errorf("executing by %#x: %v", at, errno)
		}
	}
	if differing != 1<<46-1 && differing != 1<<38-1 {
		t.Errorf("bits that differ: %#x", differing)
	}
}

func TestMissingLayerIsNamed(t *testing.T) {
	err := error(&MissingError{Layer: Landlock, Remedy: "boot with lsm=landlock", Err: unix.ENOSYS})
	for _, part := range []string{"landlock", "boot with lsm=landlock", "function not implemented"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if !errors.Is(err, unix.ENOSYS) {
		t.Error("the cause is lost")
	}
}

func TestTreeRSS(t *testing.T) {
	if got := TreeRSS(os.Getpid()); got < 1<<20 {
		t.Errorf("this process seems to hold %d bytes", got)
	}
	cmd := exec.Command("/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if got := TreeRSS(cmd.Process.Pid); got != 0 {
		t.Errorf("an ended process seems to hold %d bytes", got)
	}
}

// parentMain starts a process from a thread that is not the main one, and waits for it.
func parentMain() int {
	done := make(chan error)
	runtime.LockOSThread() // the main thread stays here, so that the other goroutine has another
	go func() {
		runtime.LockOSThread()
		cmd := exec.Command("/bin/sh", "-c", "sleep 100 & echo started; wait")
		cmd.Stdout = os.Stdout
		done <- cmd.Run()
	}()
	<-done
	return 0
}

// The tree has the children of all threads, and theirs; KillTree ends them all.
func TestTreeOfAllThreads(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "__parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	shells := children(cmd.Process.Pid)
	if len(shells) != 1 {
		t.Fatalf("children %v", shells)
	}
	sleeps := children(shells[0])
	if len(sleeps) != 1 {
		t.Fatalf("grandchildren %v", sleeps)
	}
	if tree, one := TreeRSS(cmd.Process.Pid), RSS(cmd.Process.Pid); tree <= one {
		t.Errorf("the tree holds %d bytes, its root alone %d", tree, one)
	}
	KillTree(cmd.Process.Pid)
	_ = cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); RSS(shells[0])+RSS(sleeps[0]) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the descendants live")
		}
	}
}
