package pythontest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/python"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// many is a worker that loads as often as it is asked to.
const many = `
import sys
sys.path.insert(0, sys.argv.pop(1))
from spade_worker.serve import main
main(loads=sys.maxsize)
`

// Driver is a Python process that is being spoken to. It is not safe for concurrent use.
type Driver struct {
	t      testing.TB
	in     *os.File
	frames *wire.Reader
	nonce  wire.Nonce
}

// interpreterEnv names the interpreter of the tests where it is not python3.
const interpreterEnv = "SPADE_TEST_PYTHON"

// Interpreter returns the interpreter of the tests.
func Interpreter(t testing.TB) python.Interpreter {
	t.Helper()
	name := os.Getenv(interpreterEnv)
	if name == "" {
		name = "python3"
	}
	found, err := python.Find(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Start starts a process that ends with the test. Options is its argument, see worker/spade_worker/serve.py.
func Start(t testing.TB, options string, env ...string) *Driver {
	t.Helper()
	found := Interpreter(t)
	dir := t.TempDir()
	files, err := python.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "many.py")
	if err := os.WriteFile(script, []byte(many), 0o600); err != nil {
		t.Fatal(err)
	}
	inRead, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(found.Path, append(python.Flags(), script, dir, options)...) //nolint:noctx // it ends when its input does
	cmd.Env = append(python.Environment(0, "UTC", "C.UTF-8"), env...)
	cmd.Stdin, cmd.ExtraFiles = inRead, []*os.File{outWrite}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = inRead.Close(), outWrite.Close() // the process has its own
	d := &Driver{t: t, in: in, frames: wire.NewReader(out), nonce: wire.Nonce{1, 2, 3}}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the Python process ends with %v", err)
		}
		_ = out.Close()
	})
	var e wire.Encoder
	e.Hello(wire.Hello{})
	d.exchange(wire.KindHello, e.Buf, wire.KindReady)
	return d
}

// With returns the driver for a test inside the one that started it.
func (d *Driver) With(t testing.TB) *Driver {
	inner := *d
	inner.t = t
	return &inner
}

// exchange sends a frame and returns the body of the one that answers it.
func (d *Driver) exchange(ask wire.Kind, body []byte, want wire.Kind) string {
	d.t.Helper()
	if err := wire.WriteFrame(d.in, d.nonce, ask, body); err != nil {
		d.t.Fatal(err)
	}
	all := ""
	for {
		nonce, kind, body, err := d.frames.Next()
		if err != nil || nonce != d.nonce || kind != want && kind != wire.KindResults {
			d.t.Fatalf("answer to kind %d: kind %d, %v", ask, kind, err)
		}
		all += string(body)
		if kind == want {
			return all
		}
	}
}

// Load loads a source in place of the one before.
func (d *Driver) Load(code string, limits wire.Limits) wire.Loaded {
	d.t.Helper()
	var e wire.Encoder
	e.Load(wire.Load{Runtime: "python", Code: code, Limits: limits})
	return several(d.t, 1, d.exchange(wire.KindLoad, e.Buf, wire.KindLoaded), (*wire.Decoder).Loaded)[0]
}

// Reset starts one episode.
func (d *Driver) Reset(m wire.Reset) wire.Started {
	d.t.Helper()
	return d.Resets([]wire.Reset{m})[0]
}

// Step plays one action.
func (d *Driver) Step(m wire.Action) wire.Stepped {
	d.t.Helper()
	return d.Steps([]wire.Action{m})[0]
}

// Resets starts episodes in one batch.
func (d *Driver) Resets(batch []wire.Reset) []wire.Started {
	d.t.Helper()
	var e wire.Encoder
	e.Bool(false)
	for _, m := range batch {
		e.Reset(m)
	}
	return several(d.t, len(batch), d.exchange(wire.KindResets, e.Buf, wire.KindLast), (*wire.Decoder).Started)
}

// Steps plays an action in each of several episodes.
func (d *Driver) Steps(batch []wire.Action) []wire.Stepped {
	d.t.Helper()
	var e wire.Encoder
	e.Bool(false)
	for _, m := range batch {
		e.Action(m)
	}
	return several(d.t, len(batch), d.exchange(wire.KindActions, e.Buf, wire.KindLast), (*wire.Decoder).Stepped)
}

// several reads so many answers.
func several[A any](t testing.TB, n int, body string, read func(*wire.Decoder) A) []A {
	t.Helper()
	d := wire.NewDecoder(body)
	answers := make([]A, n)
	for i := range answers {
		answers[i] = read(d)
	}
	if err := d.End(); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return answers
}
