package clickhouse

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
)

// startTimeout bounds how long a child may take to serve; opening a large folder after a crash takes longest.
const startTimeout = 60 * time.Second

// process is a running child.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	pipes  sync.WaitGroup // the readers of its output
	ended  chan struct{}
	err    error // of Wait, once ended is closed
	stderr tail
	once   sync.Once
}

// startProcess starts argv, hands it the setup and waits for its answer.
func startProcess(ctx context.Context, argv, env []string, setup child.Setup, logger *slog.Logger) (*process, child.Ready, error) {
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), ended: make(chan struct{})} //nolint:gosec,noctx // our own executable; it outlives ctx
	p.cmd.Env = env
	p.cmd.SysProcAttr = processAttributes()
	stdout, err := p.open(logger)
	if err != nil {
		return nil, child.Ready{}, fmt.Errorf("start the ClickHouse process: %w", err)
	}
	answer := make(chan child.Ready, 1)
	go func() {
		defer p.pipes.Done()
		in := bufio.NewReader(stdout)
		answer <- readReady(in)
		_, _ = io.Copy(io.Discard, in) // whatever else it prints must not block it
	}()
	ready, err := p.greet(ctx, setup, answer)
	if err != nil {
		p.kill()
		<-p.ended // only then is all read that it printed
		return nil, child.Ready{}, fmt.Errorf("start the embedded ClickHouse: %w%s", err, p.stderr.text())
	}
	return p, ready, nil
}

// open starts the process with its three pipes. Its standard error is logged.
func (p *process) open(logger *slog.Logger) (io.Reader, error) {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.pipes.Add(2) // before the process can end: launch waits for its readers
	if err := p.launch(); err != nil {
		return nil, errors.Join(err, p.stdin.Close())
	}
	go func() {
		defer p.pipes.Done()
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.stderr.add(lines.Text())
			logger.Warn("embedded clickhouse", "line", lines.Text())
		}
		_, _ = io.Copy(io.Discard, stderr) // a line over the limit must not block the child
	}()
	return stdout, nil
}

// launch starts the process on a thread that lasts as long as it: the kernel ends the child when the thread that
// started it ends, and the Go runtime may end any thread that it does not need.
func (p *process) launch() error {
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		begun <- err
		if err != nil {
			return
		}
		p.pipes.Wait() // Wait closes the pipes, so it comes after their end
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return <-begun
}

// greet sends the setup and takes the answer.
func (p *process) greet(ctx context.Context, setup child.Setup, answer <-chan child.Ready) (child.Ready, error) {
	line, err := json.Marshal(setup)
	if err != nil {
		return child.Ready{}, fmt.Errorf("encode the setup: %w", err)
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		p.release() // it ended before it read; its answer, or what it printed, tells why
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case r := <-answer:
		return r, startError(r)
	case <-ctx.Done():
		return child.Ready{}, fmt.Errorf("it does not answer: %w", context.Cause(ctx))
	}
}

// readReady reads the child's answer.
func readReady(in *bufio.Reader) child.Ready {
	var r child.Ready
	line, err := in.ReadBytes('\n')
	if err == nil && json.Unmarshal(line, &r) != nil {
		r = child.Ready{Error: fmt.Sprintf("the ClickHouse process printed %q", strings.TrimSpace(string(line)))}
	}
	return r
}

// release asks the process to end, by closing its standard input.
func (p *process) release() { p.once.Do(func() { _ = p.stdin.Close() }) }

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	p.release()
}

// wait returns when the process has ended, with how, and the last it printed.
func (p *process) wait() error {
	<-p.ended
	if p.err != nil {
		return fmt.Errorf("%w%s", p.err, p.stderr.text())
	}
	return errors.New("it ended by itself")
}

// tail keeps the last lines of a process's output.
type tail struct {
	mu    sync.Mutex // guards the following
	lines []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > 20 {
		t.lines = t.lines[1:]
	}
}

// text is the lines as the end of an error message.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return "; it printed:\n" + strings.Join(t.lines, "\n")
}
