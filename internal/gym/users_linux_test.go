package gym

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/sandbox"
	"github.com/seed256f7767/spade/internal/sandbox/sandboxtest"
)

// A plain user has the same sandbox as root, but for control groups on many machines.
func TestAsPlainUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("every test here runs as a plain user")
		return
	}
	sandboxtest.Rerun(t, "^(TestPythonTiers|TestHostilePythonSteps|TestOnlyTheGuiltyPythonEpisodeEnds|TestWorkerFromOutside)$", sandboxtest.Nobody())
}

const deniedVariable = "SPADE_TEST_DENIED"

// Where namespaces are forbidden, Python is refused with what to do about it, when it is asked for and not before;
// Starlark runs in its full tier all the same.
func TestWithoutNamespaces(t *testing.T) {
	if os.Getenv(deniedVariable) == "" {
		sandboxtest.Rerun(t, "^TestWithoutNamespaces$", nil, deniedVariable+"=1")
		return
	}
	if err := denyNamespaces(); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, Config{})
	if got := oneStep(t, p, counting, "up"); got.Observation != "1 of 5" || p.Tier() != SandboxFull {
		t.Errorf("starlark: %+v in %s", got, p.Tier())
	}
	for range 2 { // it is not forgotten, and not taken for the last word either
		_, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: countingPython})
		var refused *SandboxError
		var missing *sandbox.MissingError
		if !errors.As(err, &refused) || !errors.As(err, &missing) || missing.Layer != sandbox.Namespaces || missing.Remedy == "" {
			t.Fatalf("error is %v", err)
		}
		if text := err.Error(); !strings.Contains(text, "python-1") || !strings.Contains(text, "sandbox layer namespaces is missing") ||
			!strings.Contains(text, missing.Remedy) {
			t.Errorf("it says %q", text)
		}
	}
	// What is weaker must be asked for by name.
	if w := openPython(t, newPool(t, Config{Sandbox: SandboxLimits}), countingPython); w.Tier() != SandboxLimits {
		t.Errorf("tier %q", w.Tier())
	}
}

// denyNamespaces does to this process what a container engine's profile does: new namespaces are refused with EPERM.
func denyNamespaces() error {
	const offNr, offFlags = 0, 16
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	equal := func(value uint32, jf uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: jf, K: value}
	}
	const eperm, enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	f := []unix.SockFilter{
		load(offNr),
		equal(unix.SYS_UNSHARE, 1), ret(eperm),
		equal(unix.SYS_CLONE3, 1), ret(enosys),
		equal(unix.SYS_CLONE, 4), load(offFlags),
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: unix.CLONE_NEWUSER},
		equal(0, 1), ret(unix.SECCOMP_RET_ALLOW),
		// Reached by a clone with the flag, and by every other call, whose number is then in the accumulator.
		equal(unix.CLONE_NEWUSER, 1), ret(eperm),
		ret(unix.SECCOMP_RET_ALLOW),
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
