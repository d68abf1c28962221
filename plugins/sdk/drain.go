package sdk

import (
	"context"
	"sync"
)

// drain counts calls in progress and refuses new ones once closed.
type drain struct {
	mu     sync.Mutex // guards the following
	n      int
	closed bool
	idle   chan struct{} // closed when closed and n is 0
}

func (d *drain) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.n++
	return true
}

func (d *drain) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n--
	if d.closed && d.n == 0 {
		close(d.idle)
	}
}

// close refuses new calls and waits for those in progress.
func (d *drain) close(ctx context.Context) error {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		d.idle = make(chan struct{})
		if d.n == 0 {
			close(d.idle)
		}
	}
	idle := d.idle
	d.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
