package host

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the child into its own group and lets the kernel kill it when we die.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
