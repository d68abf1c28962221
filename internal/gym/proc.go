package gym

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
)

// Of what a worker writes beside its answers the head is kept, and a flood of it ends the worker. Environments in Python may
// print, so they have more.
const (
	outputHead  = 8 << 10
	outputFlood = 1 << 20
	pythonFlood = 16 << 20
)

// proc is one worker process, seen from outside. Its methods that talk to the process are for one goroutine at a time;
// kill and close may come from any.
type proc struct {
	cmd    *exec.Cmd
	start  start
	nonce  wire.Nonce
	in     *os.File
	out    *os.File
	frames *wire.Reader
	layers sandbox.Layer
	group  *cgroup.Group // nil: none
	// spent is the processor time that it had used when the wait for its answer began.
	spent time.Duration
	// done is closed when the process has ended and was waited for.
	done chan struct{}

	// mu guards the following.
	mu     sync.Mutex
	reason *deathError // why we killed it
	ended  bool        // it must not be signalled any more: its number may be another's
	oom    bool        // the kernel ended it for want of memory
	output []byte
}

// start is how a worker process begins.
type start struct {
	// argv makes the command line for the nonce that marks the worker's frames.
	argv func(wire.Nonce) []string
	env  []string
	// layers are those that the parent has a part in, and for Python decide what an end means.
	layers sandbox.Layer
	hello  *wire.Hello // nil: it expects none
	// memory is its limit, for the diagnosis of its end; cpu that of its processor time.
	memory uint64
	cpu    time.Duration
	// groups is where its control group is made, with the limits; nil: nowhere.
	groups *cgroup.Parent
	limits cgroup.Limits
	// python says that the process is an interpreter: it may print, and processor time decides what a deadline means.
	python bool
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
	command := s.argv(nonce)
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it outlives the call that starts it; close ends it
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
	err = p.join()
	go p.reap(pipes[4])
	if err == nil && s.hello != nil {
		err = p.hello(*s.hello)
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
	if p.start.groups == nil {
		return nil
	}
	group, err := p.start.groups.New(p.start.limits)
	if err != nil {
		return &groupError{err}
	}
	p.group = group
	if err := group.Add(p.cmd.Process.Pid); err != nil {
		return &groupError{err}
	}
	return nil
}

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

// lastWords is how long output is waited for after the process has ended. Descendants that the tier did not keep it from
// starting may hold the pipe for ever.
const lastWords = 200 * time.Millisecond

// reap drains the process's output, waits for its end, and removes what is left of it.
func (p *proc) reap(output *os.File) {
	defer close(p.done)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.drain(output)
	}()
	exited := awaitExit(p.cmd.Process.Pid)
	p.mu.Lock()
	if exited { // and is still a zombie, so that its number is its own
		_ = sandbox.KillGroup(p.cmd.Process.Pid)
		p.ended = true
	}
	p.mu.Unlock()
	_ = p.cmd.Wait() // its state says more than the error
	oom, err := p.leaveGroup()
	p.mu.Lock()
	p.ended, p.oom = true, oom
	if err != nil && p.reason == nil {
		p.reason = &deathError{cause: causeCrashed, text: err.Error()}
	}
	p.mu.Unlock()
	_ = output.SetReadDeadline(time.Now().Add(lastWords))
	<-drained
	closeAll(output)
}

// leaveGroup ends what is in the control group and removes it.
func (p *proc) leaveGroup() (oom bool, err error) {
	if p.group == nil {
		return false, nil
	}
	oom = p.group.OutOfMemory()
	return oom, errors.Join(p.group.Kill(), p.group.Remove())
}

// drain reads the process's output to its end and keeps the head.
func (p *proc) drain(output *os.File) {
	flood := outputFlood
	if p.start.python {
		flood = pythonFlood
	}
	buf := make([]byte, 4<<10)
	for total := 0; ; {
		n, err := output.Read(buf)
		total += n
		p.mu.Lock()
		p.output = append(p.output, buf[:min(n, outputHead-len(p.output))]...)
		p.mu.Unlock()
		if err != nil {
			return
		}
		if total > flood {
			p.kill(p.flooded(flood))
			return
		}
	}
}

func (p *proc) flooded(limit int) *deathError {
	if p.start.python {
		return &deathError{cause: wire.CauseLimit, text: fmt.Sprintf("the environment printed more than %d MiB", limit>>20)}
	}
	return &deathError{cause: causeProtocol, text: "the worker flooded its standard error"}
}

// kill ends the process and everything that it has started. The first reason is the one that counts.
func (p *proc) kill(reason *deathError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil {
		p.reason = reason
	}
	if p.ended {
		return
	}
	if !p.start.layers.Has(sandbox.Seccomp) {
		sandbox.KillTree(p.cmd.Process.Pid)
	}
	_ = sandbox.KillGroup(p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill()
	if p.group != nil {
		_ = p.group.Signal() // reap looks whether it has helped
	}
}

// close ends the process, waits for it and gives back its descriptors. It may be called more than once.
func (p *proc) close() error {
	p.kill(&deathError{cause: causeCrashed, text: "the worker was closed"})
	<-p.done
	return errors.Join(ignoreClosed(p.in.Close()), ignoreClosed(p.out.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// death waits for the end of a process that has stopped answering and says why it did.
func (p *proc) death(reason *deathError) *deathError {
	if reason == nil {
		// It closed its pipe. When it ended by itself its own status says why; kill only ends what is left of it.
		select {
		case <-p.done:
		case <-time.After(time.Second):
		}
	}
	p.kill(reason)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != nil {
		return p.reason
	}
	return p.diagnose()
}

// send writes one frame; the buffer must begin with room for its header, see wire.AppendHeader.
func (p *proc) send(ctx context.Context, frame []byte, timeout time.Duration) error {
	if err := wire.FinishFrame(frame); err != nil {
		return err
	}
	if err := p.in.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return p.death(nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := p.in.Write(frame)
	return p.transport(ctx, err, timeout)
}

// recv reads one frame.
func (p *proc) recv(ctx context.Context, timeout time.Duration) (wire.Kind, string, error) {
	p.spent = p.cpu()
	over := overtime{proc: p, limit: timeout}
	for wait := timeout; ; {
		if err := p.out.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return 0, "", p.death(nil)
		}
		if err := ctx.Err(); err != nil {
			return 0, "", err
		}
		nonce, kind, body, err := p.frames.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
			if wait = over.owed(); wait > 0 {
				continue
			}
		}
		if err == nil && nonce != p.nonce {
			err = wire.ErrNonce
		}
		if err != nil {
			return 0, "", p.transport(ctx, err, timeout)
		}
		return kind, string(body), nil
	}
}

// transport turns an error of a pipe into what it means.
func (p *proc) transport(ctx context.Context, err error, timeout time.Duration) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.death(&deathError{cause: causeTimeout, text: fmt.Sprintf("no answer within %v", timeout), final: p.burnt(timeout)})
	case errors.Is(err, wire.ErrFrameSize), errors.Is(err, wire.ErrNonce), errors.Is(err, wire.ErrMalformed):
		return p.death(&deathError{cause: causeProtocol, text: err.Error()})
	}
	return p.death(nil) // io.EOF, ErrCut, a broken pipe, or closed under our hands
}

// interruptible makes send and recv return when ctx is done. Stop it after the exchange.
func (p *proc) interruptible(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = p.in.SetWriteDeadline(past)
		_ = p.out.SetReadDeadline(past)
	})
}

// greet waits until a fresh process says which layers it has taken on.
func (p *proc) greet(ctx context.Context, timeout time.Duration) error {
	kind, body, err := p.recv(ctx, timeout)
	if err != nil {
		return err
	}
	d := wire.NewDecoder(body)
	switch kind {
	case wire.KindReady:
		p.layers = sandbox.Layer(d.Uint())
		if p.group != nil {
			p.layers |= sandbox.Cgroup
		}
	case wire.KindRefused:
		return &refusal{d.String()}
	default:
		return p.death(&deathError{cause: causeProtocol, text: fmt.Sprintf("message kind %d instead of a greeting", kind)})
	}
	return d.End()
}

// refusal is what a worker says that cannot confine itself.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

var _ io.Closer = (*Worker)(nil)
