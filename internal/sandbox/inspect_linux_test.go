package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Every kind of namespace is looked at, always in the same order.
func TestInspectNamespaces(t *testing.T) {
	const of = "be in this process's namespace of kind "
	all := []string{of + "user", of + "pid", of + "mnt", of + "net", of + "ipc", of + "uts", of + "cgroup"}
	for range 10 {
		if got, err := Inspect(os.Getpid(), Namespaces); err != nil || !slices.Equal(got, all) {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	for name, tt := range map[string]struct {
		kept uintptr
		want []string
	}{
		"all new":        {},
		"old cgroup":     {unix.CLONE_NEWCGROUP, []string{of + "cgroup"}},
		"old net, mount": {unix.CLONE_NEWNET | unix.CLONE_NEWNS, []string{of + "mnt", of + "net"}},
	} {
		cmd := exec.CommandContext(t.Context(), "/bin/sleep", "100")
		cmd.SysProcAttr = ProcessAttr(Namespaces)
		cmd.SysProcAttr.Pdeathsig = 0 // the thread that starts it may end before
		cmd.SysProcAttr.Cloneflags &^= tt.kept
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		got, err := Inspect(cmd.Process.Pid, Namespaces)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
