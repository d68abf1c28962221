package gym

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
)

// start is how a worker process begins.
type start struct {
	// argv is the command line. It says nothing of the nonce that marks the worker's frames, for others can read it.
	argv []string
	env  []string
	// layers are those that the parent has a part in, and for Python decide what an end means.
	layers sandbox.Layer
	hello  wire.Hello
	// memory is its limit, for the diagnosis of its end; cpu that of its processor time.
	memory uint64
	cpu    time.Duration
	// group makes its control group; nil: it has none.
	group func() (group, error)
	// frame bounds what it sends at a time, in bytes.
	frame int
	// python says that the process is an interpreter: it may print, and processor time decides what a deadline means.
	python bool
	// log gets what is no part of the reason for its end.
	log *slog.Logger
}

// begin starts the process. It must be called on a thread that lives as long as the process may: the kernel ends the
// process together with the thread that started it.
func (s start) begin() (_ *proc, err error) {
	var nonce wire.Nonce
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, fmt.Errorf("nonce: %w", err)
	}
	var pipes [6]*os.File // each pipe's read end, then its write end
	defer func() {
		if err != nil {
			closeAll(pipes[:]...)
		}
	}()
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("pipe for a worker: %w", err)
		}
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...) //nolint:noctx // it outlives the call that starts it; close ends it
	cmd.Env = s.env
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stderr = pipes[0], pipes[5]
	if s.python {
		cmd.Stdout = pipes[5]
	}
	cmd.ExtraFiles = []*os.File{pipes[3]}
	cmd.SysProcAttr = sandbox.ProcessAttr(s.layers)
	if err := cmd.Start(); err != nil {
		return nil, s.notStarted(err)
	}
	closeAll(pipes[0], pipes[3], pipes[5])

	p := &proc{
		cmd: cmd, start: s, nonce: nonce, in: pipes[1], out: pipes[2], frames: wire.NewReader(pipes[2]), done: make(chan struct{}),
	}
	p.frames.Limit = s.frame
	err = p.join()
	go p.reap(pipes[4])
	if err == nil {
		err = p.hello(s.hello)
	}
	if err == nil && s.python { // the first is for the stage before it
		err = p.hello(s.hello)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a worker: %w", err), p.close())
	}
	return p, nil
}

// notStarted says what to do when the kernel refuses a process with namespaces.
func (s start) notStarted(err error) error {
	refused := errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOSYS)
	if s.layers.Has(sandbox.Namespaces) && refused {
		err = &sandbox.MissingError{Layer: sandbox.Namespaces, Remedy: sandbox.NamespaceRemedy(), Err: err}
	}
	return fmt.Errorf("start a worker: %w", err)
}

// join puts a process that has not been told anything yet into a control group.
func (p *proc) join() error {
	if p.start.group == nil {
		return nil
	}
	g, err := p.start.group()
	if err != nil {
		return &groupError{err}
	}
	p.group = g
	if err := g.Add(p.cmd.Process.Pid); err != nil {
		return &groupError{err}
	}
	return nil
}

// group is a control group that one process is in, see package cgroup.
type group interface {
	Add(pid int) error
	Signal() error
	OutOfMemory() bool
	Kill() error
	Remove() error
}

var _ group = (*cgroup.Group)(nil)

// groupError says that a control group could not be made or joined.
type groupError struct{ err error }

func (e *groupError) Error() string { return e.err.Error() }
func (e *groupError) Unwrap() error { return e.err }

// hello sends the first message, the layers and limits that the process is to take on.
func (p *proc) hello(m wire.Hello) error {
	var e wire.Encoder
	e.Hello(m)
	return wire.WriteFrame(p.in, p.nonce, wire.KindHello, e.Buf)
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe of our own, closed twice at worst
		}
	}
}
