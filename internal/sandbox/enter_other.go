//go:build unix && !linux

package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// ProcessAttr is how to start a process that will confine itself: in a session of its own without a terminal.
func ProcessAttr(Layer) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Enter confines the calling process and makes it the program. It returns only with an error.
func Enter(p Program) error {
	if lacking := p.Layers &^ Supported; lacking != 0 {
		return &MissingError{Layer: lacking, Remedy: "use Linux, or choose the tier \"limits\" explicitly", Err: errOS}
	}
	if p.Layers.Has(Rlimits) {
		limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: p.ScratchBytes}
		for which, value := range map[int]uint64{unix.RLIMIT_CPU: p.CPUSeconds, unix.RLIMIT_NOFILE: p.OpenFiles} {
			if value > 0 {
				limits[which] = value
			}
		}
		for which, value := range limits {
			if err := unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
				return &MissingError{Layer: Rlimits, Err: err}
			}
		}
	}
	return fmt.Errorf("execute %s: %w", p.Path, unix.Exec(p.Path, p.Args(p.Layers), p.Env))
}

// NamespaceRemedy says what to do so that a process may have namespaces of its own.
func NamespaceRemedy() string { return "use Linux, for example in a virtual machine" }
