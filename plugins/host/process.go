package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// pipeGrace is how long the pipes of a process that has ended may stay open: a grandchild can hold them.
const pipeGrace = time.Second

// endGrace bounds the wait for what is certain to come soon, on any machine that is not stuck.
const endGrace = 10 * time.Second

// process runs the child and owns its whole process group. It is a go-plugin runner.
type process struct {
	cmd    *exec.Cmd
	stdout *firstLine
	stderr *pipe
	link   link
	ends   []*os.File // our copies of the child's ends, closed once it has started
	done   chan struct{}

	mu     sync.Mutex // guards the following
	pid    int
	exit   string // how it ended
	killed bool
}

var _ runner.Runner = (*process)(nil)

func newProcess(cmd *exec.Cmd) (*process, error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make pipe: %w", err), outR.Close(), outW.Close())
	}
	cmd.Stdin = nil
	cmd.Stdout, cmd.Stderr = outW, errW
	ownGroup(cmd)
	return &process{cmd: cmd, stdout: &firstLine{file: &pipe{file: outR}}, stderr: &pipe{file: errR}, ends: []*os.File{outW, errW}, done: make(chan struct{})}, nil
}

// Start runs the child from a goroutine that keeps its thread until the child has ended: the kernel's "die with your
// parent" is about the thread that started the child, and Go ends idle threads.
func (p *process) Start(context.Context) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.begin()
		for _, f := range p.ends {
			_ = f.Close()
		}
		started <- err
		if err != nil {
			close(p.done)
			return
		}
		p.reap()
	}()
	if err := <-started; err != nil {
		return errors.Join(err, p.stdout.Close(), p.stderr.Close())
	}
	return nil
}

// begin starts the child, unless Kill came first.
func (p *process) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return context.Canceled
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	return nil
}

func (p *process) reap() {
	_ = p.cmd.Wait() // the state tells more than the error
	p.mu.Lock()
	p.exit = p.cmd.ProcessState.String()
	p.mu.Unlock()
	killGroup(p.cmd.Process.Pid)
	deadline := time.Now().Add(pipeGrace)
	_ = p.stdout.file.file.SetReadDeadline(deadline)
	_ = p.stderr.file.SetReadDeadline(deadline)
	close(p.done)
}

// Exit is how the process ended, or empty while it runs.
func (p *process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Wait is called by go-plugin once both pipes are at their end.
func (p *process) Wait(context.Context) error {
	<-p.done
	return errors.Join(p.stdout.Close(), p.stderr.Close())
}

// Kill ends the group at once, or keeps it from being started.
func (p *process) Kill(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.pid != 0 && p.exit == "" {
		killGroup(p.pid)
	}
	return nil
}

// Pid is zero until there is a process.
func (p *process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

func (p *process) Stdout() io.ReadCloser { return p.stdout }
func (p *process) Stderr() io.ReadCloser { return p.stderr }
func (p *process) Name() string          { return p.cmd.Path }

// ID is empty until there is a process.
func (p *process) ID() string {
	if pid := p.Pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost is told where the plugin listens, before anybody connects.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	p.link.network, p.link.address = network, addr
	return network, addr, nil
}

func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

// firstLine passes the first line of standard output on, for the handshake, and swallows the rest: go-plugin reads line
// by line and stops at one that is very long, and a plugin that nobody reads from would block.
type firstLine struct {
	file *pipe

	mu   sync.Mutex // guards the following
	line []byte
	full bool
}

const maxFirstLine = 4096

func (f *firstLine) Read(p []byte) (int, error) {
	for {
		n, err := f.file.Read(p)
		if err != nil {
			return 0, io.EOF
		}
		f.mu.Lock()
		full := f.full
		f.keep(p[:n])
		cut := f.full && !full && len(f.line) == maxFirstLine
		f.mu.Unlock()
		if cut {
			p[n-1] = '\n'
		}
		if !full {
			return n, nil
		}
	}
}

func (f *firstLine) keep(p []byte) {
	for _, c := range p {
		if f.full {
			return
		}
		if c == '\n' {
			f.full = true
			return
		}
		f.line = append(f.line, c)
		f.full = len(f.line) == maxFirstLine
	}
}

// Line is the first line, escaped for a terminal and cut.
func (f *firstLine) Line() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return printable(string(f.line[:min(len(f.line), 200)]))
}

func (f *firstLine) Close() error { return f.file.Close() }
