package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Supported is what this operating system can offer at all.
const Supported = Descriptors | Rlimits | NoNewPrivs | Landlock | Seccomp | Namespaces | Root | Privileges | Cgroup

// Apply confines the calling process for good and returns the layers that are in force. The caller must have locked its
// goroutine to its thread (runtime.LockOSThread): before version 8 of the Landlock interface that layer covers the
// calling thread and those it starts, while all the others cover the whole process.
func Apply(spec Spec) (Layer, error) {
	steps := []struct {
		layer Layer
		take  func(Spec) error
	}{
		{Descriptors, closeDescriptors},
		{Rlimits, setRlimits},
		{NoNewPrivs, func(Spec) error { return setNoNewPrivs() }},
		{Landlock, func(Spec) error { return restrictLandlock() }},
		{Seccomp, func(Spec) error { return installSeccomp() }},
	}
	var have Layer
	for _, s := range steps {
		if !(spec.Require | spec.Want).Has(s.layer) {
			continue
		}
		if err := s.take(spec); err != nil {
			if spec.Require.Has(s.layer) {
				return have, &MissingError{Layer: s.layer, Remedy: Remedy(s.layer), Err: err}
			}
			continue
		}
		have |= s.layer
	}
	return have, nil
}

func setNoNewPrivs() error {
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// closeDescriptors closes what an ancestor has left open: whatever is above the kept descriptors and not close-on-exec,
// because exec itself has closed the rest. Those that are close-on-exec were opened here since, by the Go runtime for its
// network poller, which can begin with the first background timer; without them the process would crash.
func closeDescriptors(spec Spec) error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err != nil || fd < spec.KeepDescriptors {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if errors.Is(err, unix.EBADF) { // the listing's own descriptor is closed already
			continue
		}
		if err != nil {
			return fmt.Errorf("look at descriptor %d: %w", fd, err)
		}
		if flags&unix.FD_CLOEXEC == 0 {
			if err := unix.Close(fd); err != nil {
				return fmt.Errorf("close descriptor %d: %w", fd, err)
			}
		}
	}
	return nil
}

// setRlimits lowers soft and hard limits together, so that the process cannot raise them again.
func setRlimits(spec Spec) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0}
	if spec.ExtraMemoryBytes > 0 && !instrumented {
		held, err := writableBytes()
		if err != nil {
			return err
		}
		limits[unix.RLIMIT_DATA] = held + spec.ExtraMemoryBytes
	}
	if spec.CPUSeconds > 0 {
		limits[unix.RLIMIT_CPU] = spec.CPUSeconds
	}
	if spec.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = spec.OpenFiles
	}
	for which, value := range limits {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit %d: %w", which, err)
		}
	}
	return nil
}

// writableBytes is the private writable memory that RLIMIT_DATA counts, as mapped now.
func writableBytes() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmData:"); ok {
			var kib uint64
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				return 0, fmt.Errorf("read VmData: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("no VmData in /proc/self/status on %s", runtime.GOOS)
}
