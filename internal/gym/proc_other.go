//go:build unix && !linux

package gym

import (
	"os"
	"syscall"
)

// processAttr gives a worker its own session and process group, without a terminal. A worker whose parent dies sees the
// end of its input.
func processAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func selfCommand() (string, error) { return os.Executable() }
