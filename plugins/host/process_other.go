//go:build !linux

package host

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the child into its own group. That it dies with us is up to the SDK's watch of its parent.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
