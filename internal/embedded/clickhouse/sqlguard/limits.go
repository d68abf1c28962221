package sqlguard

import (
	"strconv"
	"time"
)

// Limits bound what one statement of a person may use.
type Limits struct {
	// Time is the longest a statement may run. Zero: two minutes.
	Time time.Duration
	// Memory is what a statement may use, in bytes. Zero: 2 GiB.
	Memory int64
	// Threads is how many threads a statement may use. Zero: the server's choice.
	Threads int
}

// Settings are the ClickHouse settings that go with Check: readonly, and the limits.
func (l Limits) Settings() map[string]string {
	if l.Time == 0 {
		l.Time = 2 * time.Minute
	}
	if l.Memory == 0 {
		l.Memory = 2 << 30
	}
	s := map[string]string{
		"readonly":           "1",
		"max_execution_time": strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64),
		"max_memory_usage":   strconv.FormatInt(l.Memory, 10),
	}
	if l.Threads > 0 {
		s["max_threads"] = strconv.Itoa(l.Threads)
	}
	return s
}
