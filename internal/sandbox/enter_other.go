//go:build unix && !linux

package sandbox

import "syscall"

// ProcessAttr is how to start a process that will confine itself: in a session of its own without a terminal.
func ProcessAttr(Layer) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Enter confines the calling process and makes it the program, which this operating system has no means for.
func Enter(p Program) error {
	return &MissingError{Layer: p.Layers &^ Supported, Remedy: "use Linux, or choose the tier \"limits\" explicitly", Err: errOS}
}
