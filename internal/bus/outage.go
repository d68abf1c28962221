package bus

import (
	"sync"
	"time"
)

// outage tells the first of a row of failures from the others, so that each
// outage is reported once.
type outage struct {
	mu    sync.Mutex // guards the following
	since time.Time
}

// begin notes a failure, and reports whether it is the first.
func (o *outage) begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		return false
	}
	o.since = time.Now()
	return true
}

// end notes a success, and reports whether it ends an outage.
func (o *outage) end() (lasted time.Duration, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, false
	}
	lasted, o.since = time.Since(o.since), time.Time{}
	return lasted, true
}
