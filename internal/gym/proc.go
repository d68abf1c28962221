package gym

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

const (
	causeMemory    = wire.CauseMemory
	causeTimeout   = wire.CauseTimeout
	causeCrashed   = wire.CauseCrashed
	causeProtocol  = wire.CauseProtocol
	causeRecursion = wire.CauseRecursion
)

// memoryText is the same whether the kernel's limit or the watchdog was first, for it is told in events.
const memoryText = "the worker reached its memory limit"

// Of a worker's standard error the head is kept, and a flood of it ends the worker.
const (
	stderrHead  = 8 << 10
	stderrFlood = 1 << 20
)

// proc is one worker process, seen from outside. Its methods that talk to the process are for one goroutine at a time;
// kill and close may come from any.
type proc struct {
	cmd    *exec.Cmd
	nonce  wire.Nonce
	in     *os.File
	out    *os.File
	frames *wire.Reader
	layers sandbox.Layer
	memory uint64 // its limit
	// done is closed when the process has ended and was waited for.
	done chan struct{}

	// mu guards the following.
	mu     sync.Mutex
	reason *deathError // why we killed it
	stderr []byte
}

// startProc starts a worker process; argv makes its command line for the nonce that marks its frames. It must be called on
// a thread that lives as long as the process may: the kernel ends the process together with the thread that started it.
func startProc(argv func(wire.Nonce) []string, env []string, memory uint64) (_ *proc, err error) {
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
	command := argv(nonce)
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it outlives the call that starts it; close ends it
	cmd.Env = env
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stderr = pipes[0], pipes[5]
	cmd.ExtraFiles = []*os.File{pipes[3]}
	cmd.SysProcAttr = processAttr()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	closeAll(pipes[0], pipes[3], pipes[5])

	p := &proc{
		cmd: cmd, nonce: nonce, in: pipes[1], out: pipes[2], frames: wire.NewReader(pipes[2]), memory: memory, done: make(chan struct{}),
	}
	go p.reap(pipes[4])
	return p, nil
}

// hello sends the first message, the layers and limits that the process is to take on.
func (p *proc) hello(m wire.Hello) error {
	var e wire.Encoder
	e.Hello(m)
	if err := wire.WriteFrame(p.in, p.nonce, wire.KindHello, e.Buf); err != nil {
		return errors.Join(fmt.Errorf("greet a worker: %w", err), p.close())
	}
	return nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe of our own, closed twice at worst
		}
	}
}

// reap reads the process's standard error to its end and waits for the process.
func (p *proc) reap(stderr *os.File) {
	defer close(p.done)
	defer closeAll(stderr)
	buf := make([]byte, 4<<10)
	for total := 0; ; {
		n, err := stderr.Read(buf)
		total += n
		p.mu.Lock()
		p.stderr = append(p.stderr, buf[:min(n, stderrHead-len(p.stderr))]...)
		p.mu.Unlock()
		if err != nil {
			break
		}
		if total > stderrFlood {
			p.kill(&deathError{causeProtocol, "the worker flooded its standard error"})
			break
		}
	}
	_ = p.cmd.Wait() // its state says more than the error
}

// kill ends the process and all of its group. The first reason is the one that counts.
func (p *proc) kill(reason *deathError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil {
		p.reason = reason
	}
	select {
	case <-p.done:
		return // its number may belong to another process by now
	default:
	}
	_ = sandbox.KillGroup(p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill()
}

// close ends the process, waits for it and gives back its descriptors. It may be called more than once.
func (p *proc) close() error {
	p.kill(&deathError{causeCrashed, "the worker was closed"})
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
	return diagnose(p.cmd.ProcessState, string(p.stderr), p.memory)
}

// diagnose reads the status and the last words of a worker that nobody killed on purpose.
func diagnose(state *os.ProcessState, stderr string, memory uint64) *deathError {
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case strings.Contains(stderr, "out of memory"), strings.Contains(stderr, "cannot allocate memory"):
		return &deathError{causeMemory, memoryText}
	case strings.Contains(stderr, "stack overflow"), strings.Contains(stderr, "stack exceeds"):
		return &deathError{causeRecursion, "the interpreter's stack overflowed"}
	case status.Signaled() && status.Signal() == syscall.SIGXCPU:
		return &deathError{causeTimeout, "the worker used up its CPU time"}
	case status.Signaled() && status.Signal() == syscall.SIGSYS:
		return &deathError{causeCrashed, "the worker made a system call that the sandbox forbids"}
	case status.Signaled():
		return &deathError{causeCrashed, "the worker was ended by signal " + status.Signal().String()}
	case memory > 0 && (runtimeDied(stderr) || peakRSS(state) > memory/4*3):
		// The interpreter's own runtime does not check each of its requests for memory: its collector crashes on some. What
		// it says then differs from one time to the next, and reasons are part of events.
		return &deathError{causeMemory, memoryText}
	}
	return &deathError{causeCrashed, fmt.Sprintf("the worker ended with status %d", state.ExitCode())}
}

// runtimeDied reports whether the last words are those of a Go runtime that gave up, which at a limit on memory is what it
// does. A panic of the interpreter never gets this far: the worker recovers from it.
func runtimeDied(stderr string) bool {
	return strings.Contains(stderr, "fatal error: ") || strings.Contains(stderr, "SIGSEGV")
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
	if err := p.out.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return 0, "", p.death(nil)
	}
	if err := ctx.Err(); err != nil {
		return 0, "", err
	}
	nonce, kind, body, err := p.frames.Next()
	if err != nil {
		return 0, "", p.transport(ctx, err, timeout)
	}
	if nonce != p.nonce {
		return 0, "", p.transport(ctx, wire.ErrNonce, timeout)
	}
	return kind, string(body), nil
}

// transport turns an error of a pipe into what it means.
func (p *proc) transport(ctx context.Context, err error, timeout time.Duration) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return p.death(&deathError{causeTimeout, fmt.Sprintf("no answer within %v", timeout)})
	case errors.Is(err, wire.ErrFrameSize), errors.Is(err, wire.ErrNonce), errors.Is(err, wire.ErrMalformed):
		return p.death(&deathError{causeProtocol, err.Error()})
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
	case wire.KindRefused:
		return &refusal{d.String()}
	default:
		return p.death(&deathError{causeProtocol, fmt.Sprintf("message kind %d instead of a greeting", kind)})
	}
	return d.End()
}

// refusal is what a worker says that cannot confine itself.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

var _ io.Closer = (*Worker)(nil)
