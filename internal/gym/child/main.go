package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// resultFD is the descriptor of the results. Nothing else writes to it.
const resultFD = 3

// maxStack bounds the stack of the interpreter; what nests deeper than the parser or a comparison can bear ends here.
const maxStack = 64 << 20

// Exit codes of a worker.
const (
	exitDone     = 0
	exitProtocol = 65
	exitRefused  = 69
)

// Main runs a worker process. The arguments and streams have the form that all of the program's child commands share; a
// worker takes no arguments and uses the descriptors themselves.
func Main(_ context.Context, _ []string, _ io.Reader, _, stderr io.Writer) int {
	// The thread that runs the interpreter is the one that takes on Landlock, and stays the same.
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	debug.SetTraceback("none")
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(800)

	w := worker{in: wire.NewReader(descriptor(0))}
	err := w.serve()
	switch {
	case errors.Is(err, io.EOF):
		return exitDone
	case errors.Is(err, errRefused):
		return exitRefused
	}
	fmt.Fprintln(stderr, err) //nolint:errcheck // there is nobody else to tell
	return exitProtocol
}

// descriptor reads and writes by plain system calls. The runtime's poller would cost two more calls for each frame.
type descriptor int

func (d descriptor) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), p)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (d descriptor) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(int(d), p[done:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return done, err
		}
		done += max(n, 0)
	}
	return done, nil
}

var (
	errRefused  = errors.New("a sandbox layer is missing")
	errProtocol = errors.New("the platform broke the protocol")
)

type worker struct {
	in    *wire.Reader
	nonce wire.Nonce
	env   *interp.Env
	// layers are those in force, for the probe.
	layers sandbox.Layer
	loaded bool
	out    []byte
}

// serve answers frames until the input ends.
func (w *worker) serve() error {
	if err := w.confine(); err != nil {
		return err
	}
	for {
		_, kind, body, err := w.in.Next()
		if err != nil {
			return err
		}
		switch kind {
		case wire.KindProbe:
			err = w.probe()
		case wire.KindLoad:
			err = w.load(string(body))
		case wire.KindResets:
			err = w.batch(string(body), w.reset)
		case wire.KindActions:
			err = w.batch(string(body), w.step)
		case wire.KindDrop:
			err = w.drop(string(body))
		default:
			err = fmt.Errorf("%w: message kind %d", errProtocol, kind)
		}
		if err != nil {
			return err
		}
	}
}

// confine reads the hello and takes on what it asks for.
func (w *worker) confine() error {
	nonce, kind, body, err := w.in.Next()
	if err != nil {
		return err
	}
	w.nonce = nonce
	d := wire.NewDecoder(string(body))
	hello := d.Hello()
	if err := d.End(); err != nil || kind != wire.KindHello {
		return fmt.Errorf("%w: no hello", errProtocol)
	}
	if hello.MemoryBytes > 0 {
		debug.SetMemoryLimit(int64(hello.MemoryBytes / 8 * 7))
	}
	w.layers, err = sandbox.Apply(sandbox.Spec{
		Require: sandbox.Layer(hello.Require), Want: sandbox.Layer(hello.Want), KeepDescriptors: resultFD + 1,
		ExtraMemoryBytes: hello.MemoryBytes, CPUSeconds: hello.CPUSeconds, OpenFiles: hello.OpenFiles,
	})
	if err != nil {
		if err := w.send(wire.KindRefused, func(e *wire.Encoder) { e.String(err.Error()) }); err != nil {
			return err
		}
		return errRefused
	}
	return w.send(wire.KindReady, func(e *wire.Encoder) { e.Uint(uint64(w.layers)) })
}

func (w *worker) probe() error {
	text := ""
	if err := sandbox.Probe(w.layers); err != nil {
		text = err.Error()
	}
	return w.send(wire.KindProbed, func(e *wire.Encoder) { e.String(text) })
}

func (w *worker) load(body string) error {
	d := wire.NewDecoder(body)
	m := d.Load()
	if err := d.End(); err != nil {
		return err
	}
	if w.loaded || m.Runtime != "starlark" {
		return fmt.Errorf("%w: load", errProtocol)
	}
	w.loaded = true
	env, answer := interp.Load(m.Code, m.Limits)
	w.env = env
	return w.send(wire.KindLoaded, func(e *wire.Encoder) { e.Loaded(answer) })
}

func (w *worker) reset(d *wire.Decoder, e *wire.Encoder) {
	if m := d.Reset(); d.Err() == nil {
		e.Started(w.env.Reset(m))
	}
}

func (w *worker) step(d *wire.Decoder, e *wire.Encoder) {
	if m := d.Action(); d.Err() == nil {
		e.Stepped(w.env.Step(m))
	}
}

func (w *worker) drop(body string) error {
	d := wire.NewDecoder(body)
	for d.More() {
		if episode := d.Int(); w.env != nil {
			w.env.Drop(episode)
		}
	}
	if err := d.End(); err != nil {
		return err
	}
	return w.send(wire.KindLast, func(*wire.Encoder) {})
}
