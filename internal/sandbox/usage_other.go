//go:build unix && !linux

package sandbox

import "time"

// CPUTime cannot be told of another process.
func CPUTime(int) (time.Duration, error) { return 0, errOS }

// UsageOf cannot be told of another process.
func UsageOf(int) (Usage, error) { return Usage{}, errOS }
