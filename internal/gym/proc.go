package gym

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
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
	group  group // nil: none
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
