package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is how long a process has run with all its threads, those that have ended included.
func CPUTime(pid int) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(clockOf(pid), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// clockOf is the kernel's number of the clock of a process: the process's number with all bits turned around, then three bits
// for the kind of clock, of which the first would say that it is a thread's.
func clockOf(pid int) int32 {
	const kindBits, scheduled = 3, 2 // the exact one: the others count ticks
	return int32(^pid<<kindBits | scheduled)
}

// UsageOf is what a process has had of the machine's processors. It takes longer than CPUTime.
func UsageOf(pid int) (Usage, error) {
	ran, err := CPUTime(pid)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{CPU: ran}
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
	if err != nil {
		return u, err
	}
	for _, thread := range threads {
		u.Queued += queued(thread)
		u.Runs = u.Runs || runs(thread)
	}
	return u, nil
}

// queued is how long a thread has stood in line, as the kernel knew when it last ran; zero if it does not count that.
func queued(thread string) time.Duration {
	data, err := os.ReadFile(thread + "/schedstat")
	if err != nil {
		return 0 // it has ended
	}
	var ran, waited int64
	if _, err := fmt.Sscan(string(data), &ran, &waited); err != nil {
		return 0
	}
	return time.Duration(waited)
}

func runs(thread string) bool {
	data, err := os.ReadFile(thread + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(data[bytes.LastIndexByte(data, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("R"))
}
