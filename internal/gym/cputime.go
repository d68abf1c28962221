package gym

import (
	"time"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// The wall limit of a Python call is judged by processor time. Fractions are in tenths.
const (
	// A call that has burnt this much of the limit has reached it.
	burntTenths = 8
	// A process that has run, or stood in line for a processor, for this much of a wait was computing; otherwise it slept.
	busyTenths = 8
	// mostWaits bounds how many times the limit a call may take on a machine that gives it too little of a processor.
	mostWaits = 10
)

// cpu is the processor time of the process so far. Of a worker in Go nobody asks: its budget is in steps.
func (p *proc) cpu() time.Duration {
	if !p.start.python {
		return 0
	}
	ran, _ := sandbox.CPUTime(p.cmd.Process.Pid) // where it cannot be told, the clock alone decides
	return ran
}

// burnt reports whether a call has used up its limit by computing: then the end is its own doing.
func (p *proc) burnt(limit time.Duration) bool {
	return p.start.python && p.cpu()-p.spent >= limit*burntTenths/10
}

// overtime is the time after the limit of one call, which a call gets that the clock has overtaken because the machine
// gave it too little of a processor.
type overtime struct {
	proc  *proc
	limit time.Duration
	// given is how much it got so far; seen is its usage when the last of it began, and when that was.
	given time.Duration
	seen  sandbox.Usage
	since time.Time
}

// owed is how much longer to wait: a moment at first, to see whether the process computes at all; then until it can have
// burnt its limit. It is zero for a call that has, and for one that sleeps.
func (o *overtime) owed() time.Duration {
	if !o.proc.start.python || o.given > mostWaits*o.limit || o.proc.burnt(o.limit) {
		return 0
	}
	now, err := sandbox.UsageOf(o.proc.cmd.Process.Pid)
	if err != nil {
		return 0
	}
	wait := o.limit / 20
	if !o.since.IsZero() {
		busy := now.CPU - o.seen.CPU + now.Queued - o.seen.Queued
		if busy < time.Since(o.since)*busyTenths/10 && !(now.Runs && o.seen.Runs) {
			return 0
		}
		wait = max(wait, o.limit*burntTenths/10-(now.CPU-o.proc.spent))
	}
	o.seen, o.since = now, time.Now()
	o.given += wait
	return wait
}
