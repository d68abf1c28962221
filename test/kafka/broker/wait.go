package broker

import (
	"os/exec"
	"runtime"
)

// startAndWait runs a process from a thread of its own, which lives as long as the process: PDEATHSIG is sent when the
// thread that started it ends, not the program.
func startAndWait(cmd *exec.Cmd, started chan<- error, done chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(done)
	err := cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
}
