package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is the processor time that a process has used with all its threads, those that have ended included.
func CPUTime(pid int) (time.Duration, error) {
	const scheduled = 2 // of the three clocks of a process, the exact one
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
