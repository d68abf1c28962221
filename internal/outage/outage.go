// Package outage tells the first of a row of failures from the others, so that what is tried until it works is reported when it
// stops working and when it works again, and not at every try. Begin with Outage.
package outage

import (
	"sync"
	"time"
)

// Outage is what is known of one thing that may fail. The zero value is a thing that works. It is safe for concurrent use.
type Outage struct {
	mu    sync.Mutex // guards the following
	since time.Time
}

// Begin notes a failure, and reports whether it is the first.
func (o *Outage) Begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		return false
	}
	o.since = time.Now()
	return true
}

// End notes a success, and reports whether it ends an outage, and how long that was.
func (o *Outage) End() (lasted time.Duration, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, false
	}
	lasted, o.since = time.Since(o.since), time.Time{}
	return lasted, true
}
