package sandbox

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The clock of this process by its number is the one that the kernel has a name for.
func TestCPUTime(t *testing.T) {
	named := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	before := named()
	got, err := CPUTime(os.Getpid())
	if after := named(); err != nil || got < before || got > after {
		t.Errorf("%v, %v; between %v and %v", got, err, before, after)
	}
	if _, err := CPUTime(99999999); err == nil {
		t.Error("a process that is not there has a clock")
	}
}
