//go:build unix && !linux

package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Supported is what this operating system can offer at all: limits on resources, and nothing that keeps code from files
// or the network.
const Supported = Rlimits

var errOS = errors.New("this operating system has no such layer")

// Apply confines the calling process for good and returns the layers that are in force.
func Apply(spec Spec) (Layer, error) {
	if lacking := spec.Require &^ Supported; lacking != 0 {
		return 0, &MissingError{Layer: lacking, Remedy: "use Linux, or choose the tier \"limits\" explicitly", Err: errOS}
	}
	if !(spec.Require | spec.Want).Has(Rlimits) {
		return 0, nil
	}
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if spec.CPUSeconds > 0 {
		limits[unix.RLIMIT_CPU] = spec.CPUSeconds
	}
	if spec.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = spec.OpenFiles
	}
	for which, value := range limits {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return 0, &MissingError{Layer: Rlimits, Err: err}
		}
	}
	return Rlimits, nil
}
