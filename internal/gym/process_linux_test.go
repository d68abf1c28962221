package gym

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// children returns the processes whose parent is pid, zombies included.
func children(t testing.TB, pid int) map[int]string {
	t.Helper()
	found := map[int]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			n, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			found[n] = fields[0]
		}
	}
	return found
}

func descriptors(t testing.TB, pid int) []string {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// eventually waits for a condition that another process brings about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not so within 20 s: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// From outside: a worker has nothing of ours but its pipes, and has taken on what it must.
func TestWorkerFromOutside(t *testing.T) {
	t.Setenv("SPADE_TEST_SECRET", "canary")
	leaked, err := os.CreateTemp(t.TempDir(), "leak") // open without close-on-exec, as a careless library may leave it
	if err != nil {
		t.Fatal(err)
	}
	defer leaked.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, leaked.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	p := newPool(t, Config{})
	w := open(t, p, counting)
	pid := w.proc.cmd.Process.Pid

	// Beside the four of the protocol there may be those that the child's own runtime opened: its poller and, to count
	// CPUs, the quota of its control group.
	for _, fd := range descriptors(t, pid) {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd))
		if err != nil {
			continue
		}
		runtimes := to == "anon_inode:[eventpoll]" || to == "anon_inode:[eventfd]" || strings.HasPrefix(to, "/sys/fs/cgroup/")
		if n, err := strconv.Atoi(fd); err != nil || n > 3 && !runtimes {
			t.Errorf("descriptor %s is %s", fd, to)
		}
	}
	want := strings.Join(starlarkEnv(), "\x00") + "\x00"
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err != nil || string(env) != want {
		t.Errorf("environment %q, %v", env, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("status lacks %q", want)
		}
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || cwd != "/" {
		t.Errorf("folder %q, %v", cwd, err)
	}
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("group %d of process %d, %v", group, pid, err)
	}
	// Every thread, not only the one that runs the interpreter.
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) < 2 {
		t.Fatalf("threads %v, %v", threads, err)
	}
	for _, path := range threads {
		if s, err := os.ReadFile(path); err == nil && !strings.Contains(string(s), "Seccomp:\t2") {
			t.Errorf("%s is not confined", path)
		}
	}
}

// play steps an episode through a script and returns everything that came back.
func play(t testing.TB, w *Worker, episodes int, before func(turn int)) [][]Stepped {
	t.Helper()
	resets := make([]Reset, episodes)
	for i := range resets {
		resets[i] = Reset{Episode: i, Seed: uint64(i)}
	}
	if _, err := w.Reset(t.Context(), resets); err != nil {
		t.Fatal(err)
	}
	var all [][]Stepped
	for turn := range 5 {
		before(turn)
		var actions []Action
		for i := range episodes {
			actions = append(actions, Action{Episode: i, Text: "up"})
		}
		got, err := w.Step(t.Context(), actions)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	return all
}

// A worker that is killed with -9 at any step is replaced, and the episodes come out the same.
func TestKilledWorkerChangesNothing(t *testing.T) {
	p := newPool(t, Config{})
	code := strings.Replace(counting, `return {"n": 0, "goal": 5}`, `return {"n": 0, "goal": 5, "r": rng.random()}`, 1)
	code = strings.Replace(code, `    if action == "up":`, `    state["r"] = rng.random()`+"\n"+`    if action == "up":`, 1)
	want := play(t, open(t, p, code), 6, func(int) {})
	for turn := range 5 {
		w := open(t, p, code)
		got := play(t, w, 6, func(now int) {
			if now == turn {
				if err := syscall.Kill(w.proc.cmd.Process.Pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("killed before step %d: %+v", turn, got)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// One episode that kills the worker does not take the others with it, wherever it stands in the batch.
func TestOnlyTheGuiltyEpisodeEnds(t *testing.T) {
	code := inStep(t, `x = [1] * (1 << 27) if action == "hog" else []`)
	p := newPool(t, Config{})
	for guilty := range 5 {
		w := open(t, p, code)
		resets, actions := make([]Reset, 5), make([]Action, 5)
		for i := range resets {
			resets[i], actions[i] = Reset{Episode: i}, Action{Episode: i, Text: "up"}
		}
		if _, err := w.Reset(t.Context(), resets); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(t.Context(), actions); err != nil {
			t.Fatal(err)
		}
		actions[guilty].Text = "hog"
		got, err := w.Step(t.Context(), actions)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range got {
			if i == guilty && (s.Outcome != EnvError || s.Cause != wire.CauseMemory) {
				t.Errorf("the guilty episode %d got %+v", i, s)
			}
			if i != guilty && s.Observation != "2 of 5" {
				t.Errorf("episode %d got %+v", i, s)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A call that a clock ends is tried once more and is marked; so are the calls that may have been it.
func TestTimeout(t *testing.T) {
	p := newPool(t, Config{CallTimeout: 500 * time.Millisecond})
	code := strings.Replace(inStep(t, `x = slow(3) if action == "slow" else 0`), "def step", "def slow(x):\n    for _ in range(64):\n        x = x * x\n    return x\n\ndef step", 1)
	w := open(t, p, code)
	if _, err := w.Reset(t.Context(), []Reset{{Episode: 1}, {Episode: 2}}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, err := w.Step(t.Context(), []Action{{Episode: 1, Text: "slow"}, {Episode: 2, Text: "up"}})
	if err != nil {
		t.Fatal(err)
	}
	if s := got[0]; s.Outcome != Timeout || s.Cause != wire.CauseTimeout || !s.Nondeterministic {
		t.Errorf("the slow episode got %+v", s)
	}
	if s := got[1]; s.Observation != "1 of 5" || s.Nondeterministic {
		t.Errorf("the other episode got %+v", s)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	// The one that goes on still does, from where it was.
	if got, err = w.Step(t.Context(), []Action{{Episode: 2, Text: "up"}}); err != nil || got[0].Observation != "2 of 5" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A clock that ends a call which goes well the second time leaves its mark on every call that may have been the one.
func TestClockLeavesItsMark(t *testing.T) {
	p := newPool(t, Config{CallTimeout: time.Second})
	for _, n := range []int{1, 3} {
		w := open(t, p, counting)
		resets, actions := make([]Reset, 5), make([]Action, n)
		for i := range resets {
			resets[i] = Reset{Episode: i}
		}
		for i := range actions {
			actions[i] = Action{Episode: i, Text: "up"}
		}
		if _, err := w.Reset(t.Context(), resets); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(w.proc.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		got, err := w.Step(t.Context(), actions)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			if s.Observation != "1 of 5" || !s.Nondeterministic {
				t.Errorf("%d calls: got %+v", n, s)
			}
		}
		if got, err = w.Step(t.Context(), actions); err != nil || got[0].Observation != "2 of 5" || got[0].Nondeterministic {
			t.Errorf("%d calls, afterwards: %+v, %v", n, got, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// After 200 workers, many of them killed, nothing of them is left: no process, no zombie, no descriptor.
func TestNothingIsLeft(t *testing.T) {
	before := descriptors(t, os.Getpid())
	p, err := NewPool(Config{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		w, err := p.Open(t.Context(), Source{Runtime: RuntimeStarlark, Code: counting})
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			if err := syscall.Kill(w.proc.cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(p.Shutdown(t.Context()), p.Shutdown(t.Context())); err != nil {
		t.Fatal(err)
	}
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if after := descriptors(t, os.Getpid()); len(after) > len(before)+2 { // the runtime's own poller may have begun
		t.Errorf("descriptors before %v, after %v", before, after)
	}
}

func TestWorkersDieWithTheirParent(t *testing.T) {
	cmd := exec.Command(os.Args[0], holderCommand)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var pids []string
	for len(pids) < 2 && lines.Scan() {
		pids = append(pids, lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if len(pids) != 2 {
		t.Fatalf("workers %v", pids)
	}
	for _, pid := range pids {
		eventually(t, "worker "+pid+" is gone", func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		})
	}
}

func TestLifecycle(t *testing.T) {
	src := Source{Runtime: RuntimeStarlark, Code: counting}
	unstarted, err := NewPool(Config{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unstarted.Open(t.Context(), src); !errors.Is(err, ErrClosed) {
		t.Errorf("open without start: %v", err)
	}
	if err := errors.Join(unstarted.Shutdown(t.Context()), unstarted.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	if err := unstarted.Start(t.Context()); !errors.Is(err, ErrMisuse) {
		t.Errorf("start after shutdown: %v", err)
	}

	p := newPool(t, Config{MaxWorkers: 1})
	w := open(t, p, inStep(t, "x = [1 for _ in range(1 << 40)]"))
	waiting, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.Open(waiting, src); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second worker of one: %v", err)
	}
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reset(t.Context(), []Reset{{}}); !errors.Is(err, ErrMisuse) {
		t.Errorf("an episode twice: %v", err)
	}
	if _, err := w.Reset(t.Context(), []Reset{{Episode: 1, WantHint: true}}); !errors.Is(err, ErrMisuse) {
		t.Errorf("both arms: %v", err)
	}
	if _, err := w.Step(t.Context(), []Action{{Episode: 7}}); !errors.Is(err, ErrMisuse) {
		t.Errorf("no episode: %v", err)
	}
	if err := w.Drop(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Errorf("the number of a dropped episode: %v", err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := w.Step(t.Context(), []Action{{}}); !errors.Is(err, ErrClosed) {
		t.Errorf("step after shutdown: %v", err)
	}
	if _, err := p.Open(t.Context(), src); !errors.Is(err, ErrClosed) {
		t.Errorf("open after shutdown: %v", err)
	}
}

// A cancelled context ends a call that is under way, and the worker with it.
func TestCancelDuringACall(t *testing.T) {
	p := newPool(t, Config{})
	w := open(t, p, endless)
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.Step(ctx, []Action{{Text: "up"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	if _, err := w.Step(t.Context(), []Action{{Text: "up"}}); !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v", err)
	}
}

// Workers are handed out in the order in which they were asked for.
func TestFirstComeFirstServed(t *testing.T) {
	p := newPool(t, Config{MaxWorkers: 1})
	held := open(t, p, counting)
	const n = 5
	order := make(chan int, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			w, err := p.Open(t.Context(), Source{Runtime: RuntimeStarlark, Code: counting})
			if err != nil {
				t.Error(err)
				return
			}
			order <- i
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		for deadline := time.Now().Add(time.Minute); inLine() != i+1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d wait for a worker, want %d", inLine(), i+1)
			}
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	for i := range n {
		if got := <-order; got != i {
			t.Errorf("place %d went to %d", i, got)
		}
	}
}

// inLine is how many goroutines wait for a worker. The meter counts those too that are only about to.
func inLine() int {
	buf := make([]byte, 1<<20)
	n := 0
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		head, stack, _ := strings.Cut(g, "\n")
		if strings.Contains(head, "[select") && strings.Contains(stack, "semaphore.(*Weighted).Acquire(") {
			n++
		}
	}
	return n
}

func TestRefusesWhatItCannotConfine(t *testing.T) {
	for _, cfg := range []Config{{Sandbox: "gvisor"}, {MaxWorkers: -1}, {MemoryBytes: 1}, {CallTimeout: -1}} {
		if _, err := NewPool(cfg, Settings{}); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	p, err := NewPool(Config{}, Settings{Command: []string{os.Args[0], fakeCommand, "refuse"}})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Start(t.Context())
	var sandbox *SandboxError
	if !errors.As(err, &sandbox) || !strings.Contains(err.Error(), "boot with lsm=landlock") {
		t.Errorf("error is %v", err)
	}
	for _, tier := range []string{SandboxLimits, SandboxNone} {
		p := newPool(t, Config{Sandbox: tier})
		if p.Tier() != tier {
			t.Errorf("tier is %q", p.Tier())
		}
		if got := oneStep(t, p, counting, "up"); got.Observation != "1 of 5" {
			t.Errorf("got %+v", got)
		}
	}
}

// Where no limit of the kernel holds, the watchdog does.
func TestWatchdog(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxNone, MemoryBytes: 64 << 20, CallTimeout: time.Minute}) // its collector works hard at the limit
	began := time.Now()
	got := oneStep(t, p, inStep(t, "x = [[i] * 100000 for i in range(100000)]"), "up")
	if got.Outcome != EnvError || got.Cause != wire.CauseMemory {
		t.Errorf("got %+v after %v", got.Fault, time.Since(began))
	}
}
