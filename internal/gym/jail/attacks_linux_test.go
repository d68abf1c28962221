package jail

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// An attack is a program that does something to the machine. It works when the layers in stops are all taken away, and
// fails when any one of them is there. Classes are the rows of the list of attack classes in docs/sandbox.md.
type attack struct {
	classes []int
	name    string
	// script defines attack(), which returns False or raises when it fails.
	script string
	stops  []sandbox.Layer
	// dies: the process ends by it, instead of being told no.
	dies bool
	// off are layers that would hide what is to be shown.
	off sandbox.Layer
	// cpuSeconds is the limit on processor time; zero: one that nothing reaches.
	cpuSeconds uint64
}

var attacks = []attack{
	{
		classes: []int{1}, name: "introspection",
		script: `
def attack():
    for c in ().__class__.__base__.__subclasses__():
        if c.__name__ == "BuiltinImporter":
            posix = c.load_module("posix")
            return CANARY_TEXT.encode() in posix.read(posix.open(CANARY, 0), 99)
    return False
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{2}, name: "ctypes and importlib",
		script: `
def attack():
    import importlib
    c = importlib.import_module("ctypes").CDLL(None)
    fd = c.open(CANARY.encode(), 0)
    import posix
    return fd >= 0 and CANARY_TEXT.encode() in posix.read(fd, 99)
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{3}, name: "an exception's frames",
		script: `
def attack():
    try:
        "{0.nothing}".format(3)
    except AttributeError as e:
        g = e.__traceback__.tb_frame.f_globals
        return CANARY_TEXT in g["__builtins__"].open(CANARY).read()
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{4}, name: "raw system calls",
		script: `
def attack():
    import ctypes, platform
    c = ctypes.CDLL(None, use_errno=True)
    nr = {"x86_64": (257, 0), "aarch64": (56, 63)}[platform.machine()]
    fd = c.syscall(nr[0], -100, CANARY.encode(), 0, 0)
    buf = ctypes.create_string_buffer(99)
    c.syscall(nr[1], fd, buf, 99)
    return CANARY_TEXT.encode() in buf.value
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{5}, name: "machine code",
		script: `
def attack():
    import ctypes, mmap, platform, posix
    code = {
        "x86_64": "b801010000" "0f05" "c3",  # mov eax, openat; syscall; ret
        "aarch64": "080780d2" "010000d4" "c0035fd6",
    }[platform.machine()]
    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(bytes.fromhex(code))
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    fd = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_int)(at)(-100, CANARY.encode(), 0)
    return fd >= 0 and CANARY_TEXT.encode() in posix.read(fd, 99)
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{6, 17}, name: "unpickling",
		script: `
def attack():
    import pickle
    class Bomb:
        def __reduce__(self):
            return (eval, ("open(%r).read()" % CANARY,))
    return CANARY_TEXT in pickle.loads(pickle.dumps(Bomb()))
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{7}, name: "a link for the platform to follow",
		script: `
def attack():
    import os
    os.symlink(CANARY, OPEN_FOLDER + "/result.json")
    return os.path.islink(OPEN_FOLDER + "/result.json")
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{7, 19}, name: "overwriting a grader",
		script: `
def attack():
    with open(OPEN_FILE, "w") as f:
        f.write("reward = 1")
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{8}, name: "an inherited descriptor",
		script: `
def attack():
    import os
    return CANARY_TEXT.encode() in os.pread(4, 99, 0)
`, stops: []sandbox.Layer{sandbox.Descriptors},
	},
	{
		classes: []int{8}, name: "the current folder",
		script: "\ndef attack():\n    import os\n    os.chdir(OPEN_FOLDER)\n    return CANARY_TEXT in open('../canary').read()\n",
		stops:  []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{9}, name: "typing into a terminal",
		script: `
def attack():
    import errno, fcntl
    try:
        fcntl.ioctl(0, 0x5412, b"x")
    except OSError as e:
        return e.errno != errno.EPERM  # the call was made: it is a pipe, or the kernel is configured to refuse
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		classes: []int{10, 12}, name: "a namespace within", dies: true,
		script: `
def attack():
    import ctypes
    return ctypes.CDLL(None).unshare(0x10000000) == 0
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		classes: []int{10}, name: "keys of the kernel", dies: true,
		script: `
def attack():
    import ctypes, platform
    nr = {"x86_64": 250, "aarch64": 219}[platform.machine()]
    return ctypes.CDLL(None).syscall(nr, 0, -3, 1) != 0  # keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1)
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		classes: []int{10}, name: "tracing", dies: true,
		script: `
def attack():
    import ctypes
    return ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		classes: []int{10}, name: "a set-user-ID program",
		script: `
def attack():
    import ctypes
    return ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0  # PR_GET_NO_NEW_PRIVS
`, stops: []sandbox.Layer{sandbox.NoNewPrivs}, off: sandbox.Landlock | sandbox.Seccomp,
	},
	{
		classes: []int{10}, name: "mounting",
		script: `
def attack():
    import ctypes
    return ctypes.CDLL(None).mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0
`, stops: []sandbox.Layer{sandbox.Privileges, sandbox.Seccomp, sandbox.Landlock}, dies: true,
	},
	{
		classes: []int{11}, name: "the running program's file",
		script: `
def attack():
    import os
    return len(os.readlink("/proc/self/exe")) > 0
`, stops: []sandbox.Layer{sandbox.Root}, off: sandbox.Seccomp,
	},
	{
		classes: []int{12}, name: "many processes",
		script: `
def attack():
    import os
    for _ in range(100):
        if os.fork() == 0:
            import time
            time.sleep(100)
`, stops: []sandbox.Layer{sandbox.Seccomp, sandbox.Rlimits, sandbox.Cgroup},
	},
	{
		classes: []int{12}, name: "many threads",
		script: `
def attack():
    import threading, time
    for _ in range(100):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
`, stops: []sandbox.Layer{sandbox.Rlimits, sandbox.Cgroup},
	},
	{
		classes: []int{13}, name: "memory of its own",
		script: `
def attack():
    return len([bytearray(b"x" * (1 << 20)) for _ in range(300)]) == 300
`, stops: []sandbox.Layer{sandbox.Rlimits}, off: sandbox.Cgroup,
	},
	{
		classes: []int{13}, name: "memory of its own, swapped or not", dies: true,
		script: `
def attack():
    return len([bytearray(b"x" * (1 << 20)) for _ in range(300)]) == 300
`, stops: []sandbox.Layer{sandbox.Cgroup}, off: sandbox.Rlimits,
	},
	{
		classes: []int{13}, name: "memory that could be shared", dies: true,
		script: `
def attack():
    import mmap
    m = mmap.mmap(-1, 300 << 20)
    for at in range(0, 300 << 20, 4096):
        m[at] = 1
`, stops: []sandbox.Layer{sandbox.Cgroup},
	},
	{
		classes: []int{13}, name: "memory in files",
		script: `
def attack():
    import os
    for n in range(6):
        with open(FILES + "/%d" % n, "wb") as f:
            f.write(bytes(1 << 20))
            os.fsync(f.fileno())
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock}, off: sandbox.Rlimits,
	},
	{
		classes: []int{13}, name: "a large file",
		script: `
def attack():
    with open(FILES + "/large", "wb") as f:
        f.write(bytes(6 << 20))
`, stops: []sandbox.Layer{sandbox.Rlimits, sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{14}, name: "computing for ever", dies: true, cpuSeconds: 1,
		script: `
def attack():
    import time
    while time.process_time() < 1.3:
        pass
`, stops: []sandbox.Layer{sandbox.Rlimits},
	},
	{
		classes: []int{20}, name: "a server of the machine",
		script: `
def attack():
    import socket
    return socket.create_connection(("127.0.0.1", PORT), 5).recv(99) == b"secret"
`, stops: []sandbox.Layer{sandbox.Namespaces, sandbox.Landlock, sandbox.Seccomp},
	},
	{
		classes: []int{20}, name: "a datagram",
		script: `
def attack():
    import socket
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", PORT))
    s.send(b"x")
`, stops: []sandbox.Layer{sandbox.Namespaces, sandbox.Seccomp},
	},
	{
		classes: []int{20}, name: "an abstract socket",
		script: `
def attack():
    import socket
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + ABSTRACT)
    return s.recv(99) == b"secret"
`, stops: []sandbox.Layer{sandbox.Namespaces, sandbox.Landlock, sandbox.Seccomp},
	},
	{
		classes: []int{20}, name: "a socket with a path",
		script: `
def attack():
    import socket
    s = socket.socket(socket.AF_UNIX)
    s.connect(SOCKET)
    return s.recv(99) == b"secret"
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Seccomp},
	},
	{
		classes: []int{20, 24}, name: "the platform's environment",
		script: `
def attack():
    import os
    return any(open("/proc/%s/cmdline" % p).read() for p in os.listdir("/proc") if p == str(PARENT))
`, stops: []sandbox.Layer{sandbox.Root, sandbox.Landlock},
	},
	{
		classes: []int{24}, name: "shared memory of System V",
		script: `
def attack():
    import ctypes
    return ctypes.CDLL(None).shmget(SHARED, 4096, 0) != -1
`, stops: []sandbox.Layer{sandbox.Namespaces, sandbox.Seccomp},
	},
	{
		classes: []int{24}, name: "the machine's name",
		script: `
def attack():
    import os
    return os.uname().nodename != "spade"
`, stops: []sandbox.Layer{sandbox.Root},
	},
	{
		classes: []int{15}, name: "signals to others",
		script: `
def attack():
    import os
    os.kill(PARENT, 0)
`, stops: append([]sandbox.Layer{sandbox.Namespaces, sandbox.Seccomp}, privilegesStopSignals()...),
	},
	{
		classes: []int{20}, name: "executing another program",
		script: `
def attack():
    import os, sys
    if os.access(sys.executable, os.X_OK):
        os.execv(sys.executable, [sys.executable, "-S", "-c", "print('worked')"])
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		// The one call that executes is allowed for one address of an empty path. Where the path is absolute, no descriptor
		// matters.
		classes: []int{10}, name: "executing by an absolute path", dies: true,
		script: executeAt + `
def attack():
    return execute(1000, sys.executable.encode())
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
	{
		classes: []int{10}, name: "executing an open file", dies: true,
		script: executeAt + `
def attack():
    return execute(os.open(sys.executable, os.O_RDONLY), b"")
`, stops: []sandbox.Layer{sandbox.Seccomp},
	},
}

// executeAt makes the call by which the first stage became the interpreter.
const executeAt = `
import ctypes, os, platform, sys

def execute(fd, path):
    args = [sys.executable.encode(), b"-S", b"-c", b"print('worked')", None]
    argv = (ctypes.c_char_p * len(args))(*args)
    nr = {"x86_64": 322, "aarch64": 281}[platform.machine()]
    ctypes.CDLL(None).syscall(nr, fd, path, argv, (ctypes.c_char_p * 1)(None), 0x1000)
    return False
`

// privilegesStopSignals: without its user, a privileged parent's child may not signal it; a plain user's may.
func privilegesStopSignals() []sandbox.Layer {
	layers := landlockScopes()
	if os.Geteuid() == 0 {
		layers = append(layers, sandbox.Privileges)
	}
	return layers
}

// landlockScopes: from its sixth version on, Landlock stops signals and abstract sockets.
func landlockScopes() []sandbox.Layer {
	if v, err := sandbox.LandlockVersion(); err == nil && v >= 6 {
		return []sandbox.Layer{sandbox.Landlock}
	}
	return nil
}

var scenes atomic.Uint32

// scene is what an attack finds on the machine, as Python assignments.
func scene(t *testing.T, dir string) string {
	t.Helper()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	folder := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // an attacker may write to it
			t.Fatal(err)
		}
		return path
	}
	tcp := listen(t, "tcp4", "127.0.0.1:0")
	number := scenes.Add(1)
	abstract := fmt.Sprintf("spade-test-%d-%d", os.Getpid(), number)
	listen(t, "unix", "@"+abstract)
	socket := filepath.Join(dir, "s")
	listen(t, "unix", socket)
	if err := os.Chmod(socket, 0o777); err != nil { //nolint:gosec // an attacker may connect to it
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(tcp)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for name, value := range map[string]string{
		"CANARY": write("canary", canaryText, 0o644), "CANARY_TEXT": canaryText, "OPEN_FOLDER": folder("open"),
		"OPEN_FILE": write("grader.py", "reward = 0", 0o666), "ABSTRACT": abstract, "SOCKET": socket,
	} {
		fmt.Fprintf(&b, "%s = %q\n", name, value)
	}
	fmt.Fprintf(&b, "PORT, PARENT, SHARED = %s, %d, %d\n", port, os.Getpid(), sharedMemory(t, number))
	return b.String()
}

const canaryText = "canary of the host"

// shortDir is a folder whose path fits into a socket's address, and not in the one that prisoners may write to.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "jail")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // no secret
		t.Fatal(err)
	}
	return dir
}

// listen answers "secret" to everybody.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("secret"))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// sharedMemory makes a segment that everybody may use, and returns its key.
func sharedMemory(t *testing.T, number uint32) int {
	t.Helper()
	key := 0x5b000000 | os.Getpid()&0xfff<<12 | int(number)&0xfff
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			t.Error(err)
		}
	})
	return key
}

const tryIt = `
try:
    result = "denied: it failed" if attack() is False else "worked"
except BaseException as e:
    result = "denied: " + repr(e)
import posix
posix.write(1, result.encode())
posix._exit(0)
`

// Every attack works without the layers that stop it, and fails with any one of them, all else equal: one that fails
// without its layers would prove nothing. With all layers it fails, of course.
func TestAttacks(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Fatalf("no allow-list for %s", runtime.GOARCH)
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			var stopping sandbox.Layer
			for _, l := range a.stops {
				stopping |= l
			}
			bare := every &^ stopping &^ a.off
			if got := a.run(t, bare); got != "worked" {
				t.Errorf("without %s: %q, so the attack proves nothing", stopping, got)
			}
			for _, l := range a.stops {
				if l == sandbox.Cgroup && groups(t) == nil {
					continue
				}
				got := a.run(t, bare|l)
				if !strings.HasPrefix(got, "denied: ") && !(a.dies && strings.HasPrefix(got, "died: ")) || strings.Contains(got, "fatal error") {
					t.Errorf("with %s: %q", l, got)
				}
			}
			if every&stopping == 0 {
				return // without control groups the platform's watchdog stops it, which is not here
			}
			if got := a.run(t, every); got == "worked" || got == "" {
				t.Errorf("with all layers: %q", got)
			}
		})
	}
}

func (a attack) run(t *testing.T, layers sandbox.Layer) string {
	t.Helper()
	if !layers.Has(sandbox.Namespaces) {
		layers &^= sandbox.Root // it would be the machine's own
		if os.Geteuid() != 0 {
			layers &^= sandbox.Privileges // there are none to drop
		}
	}
	dir := shortDir(t)
	canary, err := os.CreateTemp(dir, "inherited")
	if err != nil {
		t.Fatal(err)
	}
	defer canary.Close()
	if _, err := canary.WriteString(canaryText); err != nil {
		t.Fatal(err)
	}
	head := scene(t, dir)
	files := filepath.Join(dir, "open")
	if layers.Has(sandbox.Root) {
		files = sandbox.ScratchFolder
	}
	p := prisoner{layers: layers, inherit: []*os.File{canary}, memory: 128 << 20, cpuSeconds: or(a.cpuSeconds, 20)}
	got := p.run(t, fmt.Sprintf("%sFILES = %q\n%s%s", head, files, a.script, tryIt))
	switch {
	case got.results != "":
		return "set-up: " + got.results
	case got.out == "" && (!got.state.Exited() || !got.state.Success()):
		first, _, _ := strings.Cut(got.err, "\n")
		return "died: " + got.state.String() + " " + first
	}
	return strings.TrimSpace(got.out)
}
