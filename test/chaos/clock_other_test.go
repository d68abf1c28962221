//go:build linux && !amd64

package chaos

import (
	"errors"
	"time"
)

// canJump says why the clock of a process cannot be set; empty: it can.
const canJump = "only on amd64: it replaces machine code"

var errBusy = errors.New("a thread is asking for the time")

func jumpClock(int, time.Duration) error { return errors.New(canJump) }
