package jail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/python"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
)

// The layers of a Python worker that a process can take on without control groups.
const ownLayers = sandbox.Descriptors | sandbox.Rlimits | sandbox.NoNewPrivs | sandbox.Landlock | sandbox.Seccomp |
	sandbox.Namespaces | sandbox.Root | sandbox.Privileges

// every is all layers that this machine has.
var every = func() sandbox.Layer {
	layers := ownLayers
	if _, err := cgroup.Find(); err == nil {
		layers |= sandbox.Cgroup
	}
	return layers
}()

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// interpreter is one that every user can reach, if there is one: some layers are to be seen without a root of one's own.
var interpreter = sync.OnceValues(func() (python.Interpreter, error) {
	if found, err := python.Find(context.Background(), "/usr/bin/python3"); err == nil {
		return found, nil
	}
	return python.Find(context.Background(), "python3")
})

// prisoner is one run of a Python script in a jail.
type prisoner struct {
	layers sandbox.Layer
	// mounts are more than the interpreter's and the script's own.
	mounts     []sandbox.Mount
	memory     uint64
	cpuSeconds uint64
	// fds are open in the parent and inherited by a careless program: 4 and up.
	inherit []*os.File
	// started is called once the process exists and before it is told to begin.
	started func(pid int)
	// until is what the script prints before during is called; empty: that is not waited for.
	until string
	// during is called while the script runs.
	during func(cmd *exec.Cmd)
	// endGroup ends it by its control group.
	endGroup bool
	limit    time.Duration
	// letGo is how long its pipes may be held after its end.
	letGo time.Duration
}

type fate struct {
	out, err, results string
	state             *os.ProcessState
	timedOut          bool
	held              bool // somebody had the pipes after its end, and for longer than they may
}

// run executes a script, to which args are sys.argv[1:].
func (p prisoner) run(t *testing.T, script string, args ...string) fate {
	t.Helper()
	python, err := interpreter()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "attack.py")
	if err := errors.Join(os.WriteFile(file, []byte(script), 0o644), openUp(dir)); err != nil { //nolint:gosec // no secret
		t.Fatal(err)
	}
	o := Options{
		Program: python.Path, Args: append([]string{"-S", "-s", "-B", "-X", "utf8", file}, args...),
		Env: []string{"PYTHONHASHSEED=0", "LC_ALL=C.UTF-8"}, Worker: map[string]any{},
		Mounts: append([]sandbox.Mount{{From: dir}}, p.mounts...), Hidden: python.Hidden,
		ScratchBytes: 4 << 20, Threads: 32, StackBytes: 8 << 20,
	}
	for _, m := range python.Mounts {
		o.Mounts = append(o.Mounts, sandbox.Mount{From: m.From, To: m.At})
	}
	argument, err := o.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return p.execute(t, argument)
}

// groups is where control groups are made, or nil.
func groups(t *testing.T) *cgroup.Parent {
	t.Helper()
	parent, err := cgroup.Find()
	if err != nil && !errors.Is(err, cgroup.ErrUnavailable) {
		t.Fatal(err)
	}
	return parent
}

// joinGroup puts a process into a control group with the limits of the tests, and returns what ends it.
func joinGroup(t *testing.T, pid int, memory uint64) (leave func()) {
	t.Helper()
	g, err := groups(t).New(cgroup.Limits{MemoryBytes: or(memory, 256<<20) + 32<<20, Processes: 32})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Add(pid); err != nil {
		t.Fatal(err)
	}
	return func() {
		// A zombie is still in the group until it is waited for, which is after this where the group is the means of ending.
		if err := errors.Join(g.Kill(), g.Remove()); err != nil {
			t.Error(err)
		}
	}
}

// openUp lets everyone through the folders of a test, for a prisoner may be nobody.
func openUp(dir string) error {
	for ; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // no secret
			return err
		}
	}
	return nil
}

func (p prisoner) execute(t *testing.T, argument string) fate {
	t.Helper()
	runtime.LockOSThread() // a prisoner ends with the thread that has started it
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(t.Context(), or(p.limit, 20*time.Second))
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", Command, argument)
	cmd.SysProcAttr = sandbox.ProcessAttr(p.layers)
	cmd.SysProcAttr.Pdeathsig = 0 // whatever has taken it back meanwhile: the prisoner sees to it itself
	cmd.Env = []string{"GOGC=off", "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1"}
	cmd.Dir = "/"
	cmd.WaitDelay = or(p.letGo, time.Second)
	var errs, results bytes.Buffer
	out := &output{until: p.until, said: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = append([]*os.File{w}, p.inherit...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	kill := func() {}
	if p.layers.Has(sandbox.Cgroup) {
		leave := joinGroup(t, cmd.Process.Pid, p.memory)
		defer leave()
		kill = leave
	}
	if p.started != nil {
		p.started(cmd.Process.Pid)
	}
	var e wire.Encoder
	e.Hello(wire.Hello{Require: uint32(p.layers), MemoryBytes: or(p.memory, 256<<20), CPUSeconds: or(p.cpuSeconds, 60), OpenFiles: 64})
	if err := wire.WriteFrame(in, wire.Nonce{1}, wire.KindHello, e.Buf); err != nil {
		t.Fatal(err)
	}
	if p.until != "" {
		select {
		case <-out.said:
		case <-ctx.Done():
		}
	}
	if p.during != nil {
		p.during(cmd)
	}
	if p.endGroup {
		kill()
	}
	_ = in.Close()
	_ = cmd.Wait()
	_, _ = results.ReadFrom(r)
	return fate{out.text.String(), errs.String(), results.String(), cmd.ProcessState, ctx.Err() != nil, !out.ended}
}

// output is what a prisoner prints.
type output struct {
	until string
	said  chan struct{} // closed once until was printed
	text  bytes.Buffer
	ended bool // nobody can print any more; the error of Wait does not tell where the prisoner was killed
}

func (o *output) Write(p []byte) (int, error) {
	before := o.heard()
	n, err := o.text.Write(p)
	if !before && o.heard() {
		close(o.said)
	}
	return n, err
}

func (o *output) heard() bool {
	return o.until != "" && bytes.Contains(o.text.Bytes(), []byte(o.until))
}

// ReadFrom reads until the end of the pipe, or until Wait closes it.
func (o *output) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(struct{ io.Writer }{o}, r)
	o.ended = err == nil
	return n, err
}

func mountsOf(paths ...string) []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, p := range paths {
		mounts = append(mounts, sandbox.Mount{From: p})
	}
	return mounts
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
