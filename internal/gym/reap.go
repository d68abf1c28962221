package gym

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// Of what a worker writes beside its answers the head is kept, and a flood of it ends the worker. Environments in Python may
// print, so they have more.
const (
	outputHead  = 8 << 10
	outputFlood = 1 << 20
	pythonFlood = 16 << 20
)

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
	if err != nil { // it is no reason for anything: its text has numbers of this machine, and reasons are part of events
		p.start.log.Warn("control group of a worker is left", "error", err.Error())
	}
	p.mu.Lock()
	p.ended, p.oom = true, oom
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
