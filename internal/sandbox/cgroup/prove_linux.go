package cgroup

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// prove makes a group with limits, puts a child into it and removes both: whoever may make a group may not always move
// processes into it. The child is this program, stopped before its first instruction.
func (p *Parent) prove() (err error) {
	g, err := p.New(Limits{MemoryBytes: 64 << 20, Processes: 16})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Remove()) }()
	runtime.LockOSThread() // the child is stopped for as long as the thread lives that traces it
	defer runtime.UnlockOSThread()
	child := exec.Command("/proc/self/exe")
	child.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return nil //nolint:nilerr // nothing may be traced here, so that the first worker has to prove it
	}
	err = g.Add(child.Process.Pid)
	kill := child.Process.Kill()
	_ = child.Wait() // it was killed
	return errors.Join(err, kill)
}
