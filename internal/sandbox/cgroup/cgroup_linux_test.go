package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// files are what the kernel puts into a group of version 2 and into those of version 1.
var files = []string{
	"cgroup.procs", "cgroup.kill", "cgroup.subtree_control", "memory.max", "memory.high", "memory.swap.max", "memory.oom.group",
	"memory.events", "pids.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.swappiness", "memory.oom_control",
}

// fake is a tree of folders that looks like control groups, for the machines that the tests' own is not.
type fake struct {
	system
	dir string
}

func newFake(t *testing.T, membership string, mounts ...string) fake {
	t.Helper()
	dir := t.TempDir()
	f := fake{dir: dir, system: system{filepath.Join(dir, "cgroup"), filepath.Join(dir, "mountinfo"), tree{rmdir: os.RemoveAll}}}
	f.mkdir = func(path string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		return fill(path)
	}
	var lines []string
	for _, m := range mounts {
		lines = append(lines, strings.ReplaceAll(m, "DIR", dir))
	}
	if err := errors.Join(os.WriteFile(f.membership, []byte(membership), 0o600),
		os.WriteFile(f.mounts, []byte(strings.Join(lines, "\n")), 0o600)); err != nil {
		t.Fatal(err)
	}
	return f
}

func fill(path string) error {
	var errs []error
	for _, file := range files {
		value := ""
		if strings.HasSuffix(file, ".max") || strings.HasSuffix(file, ".high") {
			value = "max\n"
		}
		errs = append(errs, os.WriteFile(filepath.Join(path, file), []byte(value), 0o600))
	}
	return errors.Join(errs...)
}

// folder makes a group that is there before.
func (f fake) folder(t *testing.T, path string, settings map[string]string) string {
	t.Helper()
	path = filepath.Join(f.dir, path)
	if err := errors.Join(os.MkdirAll(path, 0o755), fill(path)); err != nil {
		t.Fatal(err)
	}
	for file, value := range settings {
		if err := os.WriteFile(filepath.Join(path, file), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

const unifiedMount = "30 23 0:26 / DIR/unified rw,nosuid - cgroup2 cgroup2 rw"

func TestVersion2(t *testing.T) {
	f := newFake(t, "0::/user/app\n", unifiedMount)
	// The own group hands nothing down and refuses to, as one with processes does; the one above it does.
	app := f.folder(t, "unified/user/app", nil)
	if err := os.Remove(filepath.Join(app, "cgroup.subtree_control")); err != nil {
		t.Fatal(err)
	}
	user := f.folder(t, "unified/user", map[string]string{"cgroup.subtree_control": "cpu memory pids\n"})
	p, err := f.find()
	if err != nil {
		t.Fatal(err)
	}
	if p.Version() != 2 || p.folders[0] != user {
		t.Fatalf("found %+v", p)
	}
	g, err := p.New(Limits{MemoryBytes: 1 << 20, Processes: 7})
	if err != nil {
		t.Fatal(err)
	}
	path := g.folders[0]
	for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "7"} {
		if got := read(t, path, file); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if err := g.Add(4711); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path, "cgroup.procs"); got != "4711" {
		t.Errorf("processes %q", got)
	}
	if g.OutOfMemory() {
		t.Error("out of memory without an event")
	}
	if err := os.WriteFile(filepath.Join(path, "memory.events"), []byte("low 0\noom 1\noom_kill 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !g.OutOfMemory() {
		t.Error("an event of the kernel is not seen")
	}
	if err := g.Signal(); err != nil || read(t, path, "cgroup.kill") != "1" {
		t.Errorf("kill: %v", err)
	}
	if err := errors.Join(g.Remove(), g.Remove()); err != nil {
		t.Error(err)
	}
}

// A group above the own one is used only if the own one has no limit, or workers would not be held to it.
func TestLimitsOfTheOwnGroupHold(t *testing.T) {
	for _, settings := range []map[string]string{{"memory.max": "1073741824\n"}, {"pids.max": "100\n"}, {"memory.high": "1\n"}} {
		f := newFake(t, "0::/user/app\n", unifiedMount)
		app := f.folder(t, "unified/user/app", settings)
		if err := os.Remove(filepath.Join(app, "cgroup.subtree_control")); err != nil {
			t.Fatal(err)
		}
		f.folder(t, "unified/user", map[string]string{"cgroup.subtree_control": "memory pids\n"})
		f.mkdir = func(path string) error {
			t.Errorf("%v: makes %s", settings, path)
			return os.ErrPermission
		}
		_, err := f.find()
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("error is %v", err)
		}
		for file, value := range settings {
			if want := file + " of " + strings.TrimSpace(value); !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
}

// Some may make groups and set their limits, but not move a process: that is no place for workers.
func TestGroupsThatTakeNoProcess(t *testing.T) {
	one := func() fake { return newFake(t, "0::/app\n", unifiedMount) }
	two := func() fake {
		return newFake(t, "9:pids:/\n4:memory:/\n", "31 23 0:27 / DIR/memory rw - cgroup cgroup rw,memory", "32 23 0:28 / DIR/pids rw - cgroup cgroup rw,pids")
	}
	for name, f := range map[string]fake{"version 2": one(), "version 1": two()} {
		f.folder(t, "unified/app", map[string]string{"cgroup.subtree_control": "memory pids\n"})
		f.folder(t, "memory", nil)
		f.folder(t, "pids", nil)
		p, err := f.find()
		if err != nil {
			t.Fatalf("%s: %v, so that this proves nothing", name, err)
		}
		if left, err := p.Count(p.name); left != 0 || err != nil {
			t.Errorf("%s: %d groups are left: %v", name, left, err)
		}
		whole := f.mkdir
		f.mkdir = func(path string) error {
			return errors.Join(whole(path), os.Remove(filepath.Join(path, "cgroup.procs")), os.Mkdir(filepath.Join(path, "cgroup.procs"), 0o755))
		}
		if _, err := f.find(); !errors.Is(err, ErrUnavailable) || !errors.Is(err, unix.EISDIR) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoPlace(t *testing.T) {
	for name, f := range map[string]fake{
		"nothing mounted": newFake(t, "0::/\n", "22 1 8:1 / / rw - ext4 /dev/root rw"),
		"read-only": func() fake {
			f := newFake(t, "3:pids:/\n2:memory:/\n0::/\n", unifiedMount, "31 23 0:27 / DIR/memory ro - cgroup cgroup rw,memory", "32 23 0:28 / DIR/pids ro - cgroup cgroup rw,pids")
			f.mkdir = func(path string) error { return &os.PathError{Op: "mkdir", Path: path, Err: unix.EROFS} }
			return f
		}(),
	} {
		_, err := f.find()
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "read-only" && !errors.Is(err, unix.EROFS) {
			t.Errorf("the reason is lost: %v", err)
		}
	}
}

func TestVersion1OfAFakeMachine(t *testing.T) {
	// A container sees its own group as the root of each mount, but its membership by the machine's path.
	f := newFake(t, "9:pids:/docker/abc\n4:cpu,memory:/docker/abc\n", "31 23 0:27 /docker/abc DIR/memory rw - cgroup cgroup rw,cpu,memory",
		"32 23 0:28 /docker/abc DIR/pids rw - cgroup cgroup rw,pids")
	memory, pids := f.folder(t, "memory", nil), f.folder(t, "pids", nil)
	p, err := f.find()
	if err != nil || !slices.Equal(p.folders, []string{memory, pids}) || p.Version() != 1 {
		t.Fatalf("found %+v, %v", p, err)
	}
	g, err := p.New(Limits{MemoryBytes: 4096, Processes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, g.folders[0], "memory.limit_in_bytes"); got != "4096" {
		t.Errorf("memory limit %q", got)
	}
	if got := read(t, g.folders[0], "memory.memsw.limit_in_bytes"); got != "4096" {
		t.Errorf("limit with swap %q", got)
	}
	if got := read(t, g.folders[1], "pids.max"); !strings.HasPrefix(got, "3") {
		t.Errorf("process limit %q", got)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

// The machine's own groups, where it lets us: limits hold, Kill ends what ignores signals, nothing is left.
func TestThisMachine(t *testing.T) {
	p, err := Find()
	if errors.Is(err, ErrUnavailable) {
		t.Logf("covered by the fakes only: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.New(Limits{MemoryBytes: 64 << 20, Processes: 3})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM INT HUP; read go; (trap "" TERM; sleep 100) & wait`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "go") //nolint:errcheck // the wait below finds out
	for deadline := time.Now().Add(10 * time.Second); ; {
		pids, err := g.Processes()
		if err != nil {
			t.Fatal(err)
		}
		if len(pids) >= 2 || time.Now().After(deadline) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	<-done
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	for _, folder := range g.folders {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}

// Two parts of one process may make groups, which do not get in each other's way.
func TestTwoParentsOfOneProcess(t *testing.T) {
	f := newFake(t, "9:pids:/\n4:memory:/\n", "31 23 0:27 / DIR/memory rw - cgroup cgroup rw,memory", "32 23 0:28 / DIR/pids rw - cgroup cgroup rw,pids")
	f.folder(t, "memory", nil)
	f.folder(t, "pids", nil)
	seen := map[string]bool{}
	for range 2 {
		p, err := f.find()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			g, err := p.New(Limits{MemoryBytes: 1 << 20, Processes: 3})
			if err != nil {
				t.Fatal(err)
			}
			if seen[g.folders[0]] {
				t.Errorf("%s twice", g.folders[0])
			}
			seen[g.folders[0]] = true
		}
	}
}

// Groups of a process that is gone are ended and removed, and only those.
func TestSweep(t *testing.T) {
	p, err := Find()
	if errors.Is(err, ErrUnavailable) {
		t.Logf("no groups here: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("/bin/sh", "-c", "read go")
	in, err := gone.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	name, err := maker.Name(gone.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	dead := &Parent{version: p.version, folders: p.folders, name: name, tree: p.tree}
	left, err := dead.New(Limits{MemoryBytes: 64 << 20, Processes: 8})
	if err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("/bin/sleep", "100")
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	if err := left.Add(orphan.Process.Pid); err != nil {
		t.Fatal(err)
	}
	ours, err := p.New(Limits{MemoryBytes: 64 << 20, Processes: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ours.Remove(); err != nil {
			t.Error(err)
		}
	}()
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.folders[0]); err != nil {
		t.Errorf("the group of a living process is gone: %v", err)
	}
	_ = in.Close()
	_ = gone.Wait()
	done := make(chan error, 1)
	go func() { done <- orphan.Wait() }()
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the orphan was not killed")
	}
	if _, err := os.Stat(left.folders[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group of a dead process is left: %v", err)
	}
	if _, err := os.Stat(ours.folders[0]); err != nil {
		t.Errorf("our own group is gone: %v", err)
	}
}

// Version 2 ends what is in a group by one write, where the machine has it mounted at all, with controllers or without.
func TestKillInVersion2(t *testing.T) {
	own, err := system{"/proc/self/cgroup", "/proc/self/mountinfo", kernel}.own()
	if err != nil {
		t.Fatal(err)
	}
	name, err := maker.Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(own[""], name+"-9999")
	if own[""] == "" || os.Mkdir(folder, 0o755) != nil {
		t.Log("covered by the fakes only: version 2 is not there or not ours")
		return
	}
	g := &Group{version: 2, folders: []string{folder}, rmdir: unix.Rmdir}
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM INT HUP; sleep 100 & wait`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Error(err)
		_ = cmd.Process.Kill()
	}
	go func() { done <- cmd.Wait() }()
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("it ended well")
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}
