package gym

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
)

// A process that ends before it has been sent a source says nothing about the source.
func TestStillbornWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ends")
	p, err := NewPool(Config{Sandbox: SandboxNone, Spares: -1}, Settings{Command: []string{os.Args[0], fakeCommand, stillborn + path}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	proc, err := p.takeUntested(t.Context(), launch{runtime: RuntimeStarlark})
	if err != nil {
		t.Fatal(err)
	}
	proc.kill(nil)
	<-proc.done
	var unborn *startError
	if _, err := p.loadInto(t.Context(), proc, Source{Runtime: RuntimeStarlark}); !errors.As(err, &unborn) {
		t.Errorf("a source for a process that has ended: %v", err)
	}
	if err := proc.close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.Open(t.Context(), Source{Runtime: RuntimeStarlark})
	var refused *SourceError
	if err == nil || errors.As(err, &refused) {
		t.Errorf("error is %v", err)
	}
}

// badGroup is a control group that does not do what it is for.
type badGroup struct{ add, kill error }

func (g badGroup) Add(int) error     { return g.add }
func (g badGroup) Signal() error     { return g.kill }
func (g badGroup) OutOfMemory() bool { return false }
func (g badGroup) Kill() error       { return g.kill }
func (g badGroup) Remove() error     { return nil }

// badGroups is a pool whose Python workers get that group.
func badGroups(t *testing.T, cfg Config, g badGroup) *Pool {
	t.Helper()
	p := newPool(t, cfg)
	if err := p.python.prepare(t.Context(), "", false, p.log); err != nil {
		t.Fatal(err)
	}
	p.python.found.group = func(cgroup.Limits) (group, error) { return g, nil }
	return p
}

// Where groups can be made but take no process, Python goes on without, as where none can be made.
func TestGroupsThatTakeNoProcess(t *testing.T) {
	for _, spares := range []int{-1, 2} {
		p := badGroups(t, Config{Sandbox: SandboxLimits, Spares: spares}, badGroup{add: errors.New("no room")})
		for range 3 {
			w, ok := openHalting(t, p, fmt.Sprintf(halting, ""))
			if !ok {
				t.Fatal("it does not load")
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		if s := p.Standing(t.Context(), RuntimePython); s.Err != nil || s.Groups != "no room" {
			t.Errorf("%d spares: %+v", spares, s)
		}
	}
}

// What is wrong with a control group has numbers of this machine in it, and what ended a worker is part of events.
func TestGroupsThatCannotBeEmptied(t *testing.T) {
	p := badGroups(t, Config{Sandbox: SandboxLimits}, badGroup{kill: errors.New("processes [4711] do not end")})
	w, ok := openHalting(t, p, fmt.Sprintf(halting, ""))
	if !ok {
		t.Fatal("it does not load")
	}
	defer w.Close() //nolint:errcheck // the pool's end says what there is to say
	got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "exit"}})
	if err != nil || got[0].Error != "the worker ended with status 1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A first source in Python that was on its way when the pool was closed leaves no files behind.
func TestPythonIsNotPreparedAfterTheEnd(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := newPool(t, Config{Sandbox: SandboxLimits})
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.readyPython(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), filesPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Whoever waits for a process when the pool is closed is told so, however many wait.
func TestNobodyWaitsForAStoppedSpawner(t *testing.T) {
	s := newSpawner(func() (*proc, error) { return nil, errors.New("none") }, 2, 1)
	s.start()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 10 {
		if _, err := s.take(ctx); ctx.Err() != nil {
			t.Fatalf("waited in vain: %v", err)
		}
	}
}

// A worker whose own code runs out of memory says so by how it ends, and not by how much it happened to hold.
func TestOutOfMemoryInTheWorker(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	for lines, want := range map[string]Fault{
		"raise MemoryError": {Cause: causeMemory, Error: memoryText},
		"raise SystemExit":  {Cause: causeCrashed, Error: "the worker ended with status 65"},
	} {
		code := fmt.Sprintf(halting, "import spade_worker.episodes as e\ndef step(*given):\n    "+lines+"\ne.Player.step = step")
		w, ok := openHalting(t, p, code)
		if !ok {
			t.Fatal("it does not load")
		}
		got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "x"}})
		if err != nil || got[0].Cause != want.Cause || got[0].Error != want.Error {
			t.Errorf("%s: %+v, %v", lines, got, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	// A process that held much and ends for a reason of its own has not run out of memory.
	code := strings.Replace(fmt.Sprintf(halting, ""), "os._exit(1)", "kept = b'x' * (105 << 20)\n        os._exit(1)", 1)
	w, ok := openHalting(t, p, code)
	if !ok {
		t.Fatal("it does not load")
	}
	defer w.Close() //nolint:errcheck // the pool's end says what there is to say
	got, err := w.Step(t.Context(), []Action{{Episode: 0, Text: "exit"}})
	if err != nil || got[0].Cause != causeCrashed {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whoever lists the processes of a machine does not read what marks a worker's answers.
func TestNonceIsInNoCommandLine(t *testing.T) {
	p := newPool(t, Config{Sandbox: SandboxLimits})
	w, ok := openHalting(t, p, fmt.Sprintf(halting, ""))
	if !ok {
		t.Fatal("it does not load")
	}
	defer w.Close() //nolint:errcheck // the pool's end says what there is to say
	proc, err := w.current()
	if err != nil {
		t.Fatal(err)
	}
	if line := strings.Join(proc.cmd.Args, " "); strings.Contains(line, fmt.Sprintf("%x", proc.nonce[:])) {
		t.Errorf("the command line is %s", line)
	}
}
