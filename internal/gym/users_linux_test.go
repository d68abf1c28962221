package gym

import (
	"errors"
	"os"
	"strings"
	"testing"

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
	denied := map[uint32]unix.Errno{unix.SYS_UNSHARE: unix.EPERM, unix.SYS_CLONE3: unix.ENOSYS}
	if err := sandboxtest.Deny(denied, unix.CLONE_NEWUSER); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, Config{})
	if got := oneStep(t, p, counting, "up"); got.Observation != "1 of 5" || p.Tier() != TierStarlark {
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

// On a kernel of before 2020 the sandbox is made by older calls, without Landlock, and says so.
func TestOnAnOldKernel(t *testing.T) {
	if os.Getenv(deniedVariable) == "" {
		sandboxtest.Rerun(t, "^TestOnAnOldKernel$", nil, deniedVariable+"=1")
		return
	}
	missing := map[uint32]unix.Errno{unix.SYS_CLONE3: unix.ENOSYS}
	for _, nr := range []uint32{
		unix.SYS_MOUNT_SETATTR, unix.SYS_CLOSE_RANGE, unix.SYS_OPENAT2, unix.SYS_FACCESSAT2, unix.SYS_PIDFD_OPEN,
		unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF,
	} {
		missing[nr] = unix.ENOSYS
	}
	if err := sandboxtest.Deny(missing, 0); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, Config{})
	if p.Tier() != TierStarlark+"-no-landlock" {
		t.Errorf("tier %q", p.Tier())
	}
	got, _ := stepPython(t, p, countingPython)
	if tier := p.TierOf(RuntimePython); got.Observation != "1 of 5" || !strings.HasPrefix(tier, TierPython) || !strings.HasSuffix(tier, "-no-landlock") {
		t.Errorf("got %+v in %s", got, tier)
	}
	got, _ = stepPython(t, p, inPythonStep("open(__import__('os').__file__, 'a')"))
	if got.Outcome != EnvError || !strings.Contains(got.Error, "Read-only file system") && !strings.Contains(got.Error, "PermissionError") {
		t.Errorf("a mount is not read-only: %+v", got)
	}
}
