package gym

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// inPythonStep is counting in Python with more lines at the beginning of its step.
func inPythonStep(lines string) string {
	body := "    " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ")
	return strings.Replace(countingPython, `    if action == "up":`, body+"\n    if action == \"up\":", 1)
}

// stepPython plays one action in a fresh worker and returns what came of it and how long it took.
func stepPython(t *testing.T, p *Pool, code string) (Stepped, time.Duration) {
	t.Helper()
	w := openPython(t, p, code)
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, err := w.Step(t.Context(), []Action{{Text: "up"}})
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return got[0], took
}

// What a step can do to its process, and what comes of it: the outcome of the episode, and nothing else.
func TestHostilePythonSteps(t *testing.T) {
	p := newPool(t, Config{CallTimeout: 10 * time.Second})
	const forks = "import os\nwhile True:\n    os.fork()"
	tests := []struct {
		name, lines string
		outcome     Outcome
		cause       Cause
		text        string
	}{
		{"fork bomb", forks, EnvError, wire.CauseException, "PermissionError"},
		{"a program", "import subprocess\nsubprocess.run(['/bin/sh'])", EnvError, wire.CauseException, "Error"},
		{"memory", "x = ['x' * (1 << 20) for _ in range(1000)]", EnvError, wire.CauseMemory, ""},
		{"memory that could be shared", "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096):\n    m[at] = 1", EnvError, wire.CauseMemory, memoryText},
		{"memory in files", "for n in range(100):\n    with open('/tmp/%d' % n, 'wb') as f: f.write(bytes(1 << 20))", EnvError, wire.CauseException, "No space left"},
		{"files without end", "for n in range(10_000):\n    open('/tmp/%d' % n, 'w').close()", EnvError, wire.CauseException, "No space left"},
		{"descriptors without end", "import os\nkept = [os.dup(1) for _ in range(10_000)]", EnvError, wire.CauseException, "Too many open files"},
		{"threads without end", "import threading, time\nfor _ in range(10_000): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()", EnvError, wire.CauseException, "can't start new thread"},
		{"end of the process", "import os\nos._exit(0)", EnvError, wire.CauseCrashed, "status 0"},
		{"abort", "import os\nos.abort()", EnvError, wire.CauseCrashed, "signal"},
		{"a null pointer", "import ctypes\nctypes.string_at(0)", EnvError, wire.CauseCrashed, "segmentation fault"},
		{"a forbidden call", "import ctypes\nctypes.CDLL(None).unshare(0x10000000)", EnvError, wire.CauseCrashed, "the sandbox forbids"},
		{"signal to its parent", "import os\nos.kill(os.getppid() or 1 << 20, 9)", EnvError, wire.CauseException, "PermissionError"},
		{"signal to all", "import os\nos.kill(-1, 9)", EnvError, wire.CauseException, "PermissionError"},
		{"kill itself", "import os, signal\nsignal.raise_signal(signal.SIGKILL)", Ongoing, "", ""}, // it is the first of its namespace
		{"every descriptor closed", "import os\nos.closerange(0, 256)", EnvError, "", ""},
		{"noise on every descriptor", "import os\nfor fd in range(3, 32):\n    try: os.write(fd, b'\\xff' * 100)\n    except OSError: pass", EnvError, wire.CauseProtocol, ""},
		{"links and odd names", "import os\nos.symlink('/etc/passwd', '/tmp/-rf')\nos.mkdir('/tmp/--help')\nopen('/tmp/--help/-c', 'w').close()\nos.symlink('/tmp', '/tmp/--help/loop')", Ongoing, "", ""},
		{"no stack", "import sys\nsys.setrecursionlimit(10**8)\nclass A:\n    def __repr__(self): return repr(self)\nrepr(A())", EnvError, "", ""},
		{"a flood of output", "import os\nfor _ in range(500): os.write(1, bytes(1 << 20))", EnvError, wire.CauseLimit, "printed more than 16 MiB"},
		{"a flood of errors", "import os\nfor _ in range(500): os.write(2, bytes(1 << 20))", EnvError, wire.CauseLimit, "printed more than 16 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, took := stepPython(t, p, inPythonStep(tt.lines))
			if got.Outcome != tt.outcome || tt.cause != "" && got.Cause != tt.cause || !strings.Contains(got.Error, tt.text) {
				t.Errorf("outcome %q, cause %q, error %q", got.Outcome, got.Cause, got.Error)
			}
			if got.Nondeterministic {
				t.Error("marked as nondeterministic")
			}
			if took > 8*time.Second && quiet() {
				t.Errorf("took %v", took)
			}
		})
	}
	// After all of that the pool plays on.
	if got, _ := stepPython(t, p, countingPython); got.Observation != "1 of 5" {
		t.Errorf("got %+v", got)
	}
}

// What never ends is ended from outside, once where it computes, and twice where it only waits: a second chance is for a
// call that the machine has starved.
func TestPythonDeadlines(t *testing.T) {
	const short = 300 * time.Millisecond
	tests := map[string]struct {
		lines string
		limit time.Duration
		waits bool
	}{
		"a power in C":          {"x = 10**10**8", time.Second, false},
		"a loop":                {"while True: pass", short, false},
		"a finaliser":           {"class X:\n    def __del__(self):\n        while True: pass\nX()", short, false},
		"a text":                {"class X(str):\n    def __str__(self):\n        while True: pass\n    __repr__ = __len__ = __hash__ = __str__\nstate[str(X('x'))] = 1", short, false},
		"an exception's text":   {"class X(Exception):\n    def __str__(self):\n        while True: pass\nraise X()", short, false},
		"a trace":               {"import sys\ndef f(*a):\n    while True: pass\nsys.settrace(f)\n(lambda: 0)()", short, false},
		"a signal's handler":    {"import signal\ndef f(*a):\n    while True: pass\nsignal.signal(signal.SIGTERM, f)\nsignal.raise_signal(signal.SIGTERM)", short, false},
		"an expression's match": {"import re\nre.match('(a+)+$', 'a' * 64 + 'b')", short, false},
		"sleep":                 {"import time\ntime.sleep(1000)", short, true},
		"a lock":                {"import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()", short, true},
	}
	pools := map[time.Duration]*Pool{}
	for _, limit := range []time.Duration{short, time.Second} {
		p := newPool(t, Config{CallTimeout: limit, LoadTimeout: 2 * time.Second, MaxWorkers: 1})
		openPython(t, p, countingPython).Close() //nolint:errcheck // so that the first start is not part of what is measured
		pools[limit] = p
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var took time.Duration
			for range 5 { // a machine that pauses makes one take longer, and what is wrong makes all of them
				var got Stepped
				got, took = stepPython(t, pools[tt.limit], inPythonStep(tt.lines))
				if got.Outcome != Timeout || got.Cause != wire.CauseTimeout || got.Nondeterministic != tt.waits {
					t.Fatalf("got %+v", got)
				}
				if took <= tt.limit*3/2 || tt.waits || !quiet() {
					return
				}
			}
			t.Errorf("took %v of %v", took, tt.limit)
		})
	}
	p := pools[short]
	for name, code := range map[string]string{
		"import": "while True: pass\n" + countingPython,
		"parse":  "x = " + strings.Repeat("9", 4000) + "**" + strings.Repeat("9", 4000) + "\n" + countingPython,
	} {
		began := time.Now()
		_, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: code})
		var refused *SourceError
		if !errors.As(err, &refused) || name == "import" && (refused.Fault.Outcome != Timeout || refused.Fault.Nondeterministic) {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
	}
}

// quiet reports whether the machine has time for the tests: where much else runs, how long something took says nothing.
func quiet() bool {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return true
	}
	var load float64
	if _, err := fmt.Sscan(string(data), &load); err != nil {
		return true
	}
	return load < float64(runtime.NumCPU())
}

// One episode that computes for ever does not take the others with it, wherever it stands in a batch.
func TestOnlyTheGuiltyPythonEpisodeEnds(t *testing.T) {
	p := newPool(t, Config{CallTimeout: time.Second})
	code := strings.Replace(countingPython, `    if action == "up":`, "    while action == 'hang': pass\n    if action == \"up\":", 1)
	w := openPython(t, p, code)
	resets, actions := make([]Reset, 4), make([]Action, 4)
	for i := range resets {
		resets[i], actions[i] = Reset{Episode: i}, Action{Episode: i, Text: "up"}
	}
	if _, err := w.Reset(t.Context(), resets); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(t.Context(), actions); err != nil {
		t.Fatal(err)
	}
	actions[1].Text = "hang"
	got, err := w.Step(t.Context(), actions)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got {
		if i == 1 && (s.Outcome != Timeout || s.Nondeterministic) {
			t.Errorf("the guilty episode got %+v", s)
		}
		if i != 1 && s.Observation != "2 of 5" {
			t.Errorf("episode %d got %+v", i, s)
		}
	}
}

// Half a gigabyte of output costs the platform next to nothing: it is counted and dropped, and its writer ended.
func TestFloodCostsThePlatformLittle(t *testing.T) {
	got, grown := flood(t, newPool(t, Config{}), inPythonStep("import os\nfor _ in range(500): os.write(1, b'x' * (1 << 20))"))
	if got.Outcome != EnvError || got.Cause != wire.CauseLimit {
		t.Errorf("got %+v", got)
	}
	if grown > 16<<20 {
		t.Errorf("the platform held %d MB more while it was flooded", grown>>20)
	}
}

// flood plays one step and returns how much more memory this process held meanwhile than before.
func flood(t testing.TB, p *Pool, code string) (Stepped, uint64) {
	t.Helper()
	w := openPython(t, p, code)
	if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := ownRSS()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		top := before
		for {
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(5 * time.Millisecond):
				top = max(top, ownRSS())
			}
		}
	}()
	got, err := w.Step(t.Context(), []Action{{Text: "up"}})
	close(stop)
	top := <-most
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return got[0], top - before
}

func ownRSS() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}

// Only bytes reach the platform: what an environment leaves behind runs in its own process or not at all.
func TestNothingOfAnEnvironmentRunsHere(t *testing.T) {
	for _, tier := range []string{SandboxFull, SandboxNone} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // the environment is to write there
			t.Fatal(err)
		}
		p := newPool(t, Config{Sandbox: tier})
		got, _ := stepPython(t, p, inPythonStep(fmt.Sprintf(`
class Late(str):
    def __del__(self):
        import os
        open(%q + "/%%d" %% os.getpid(), "w").close()
    def __reduce__(self):
        return (self.__del__, ())
    __str__ = __repr__ = __eq__ = lambda self, *a: self.__del__()
    __hash__ = str.__hash__
state["late"] = Late("x")`, dir)))
		if got.Outcome != Ongoing && got.Outcome != EnvError {
			t.Errorf("got %+v", got)
		}
		made, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		if (len(made) > 0) == (tier == SandboxFull) {
			t.Errorf("%s: files %v", tier, made) // without the sandbox it writes, so that the attack is one
		}
		for _, path := range made {
			if filepath.Base(path) == fmt.Sprint(os.Getpid()) {
				t.Error("the platform's own process ran it")
			}
		}
	}
}
