package sandbox

import "time"

// Usage is what a process has had of the machine's processors.
type Usage struct {
	// CPU is how long it has run, Queued how long it could have and stood in line.
	CPU, Queued time.Duration
	// Runs says that one of its threads runs or stands in line now.
	Runs bool
}
