package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// dialer remembers the connections it opened. kafka-go waits for the answer to
// a request whose context has ended; closing the connection is what frees it.
type dialer struct {
	net.Dialer
	// patience bounds every read and write that kafka-go gives no deadline. Zero: it gives them all.
	patience time.Duration
	// first are the addresses to begin with.
	first []string

	mu     sync.Mutex // guards the following
	open   map[*trackedConn]struct{}
	closed bool
	silent map[string]time.Time // addresses that took connections and did not answer, and until when to pass them over
}

// newDialer begins with the first of these addresses that answers. One that drops what comes to it, as the address of a machine that
// is gone does, must leave time for the others within timeout, which is that of a request.
func newDialer(timeout time.Duration, first []string) *dialer {
	if len(first) > 1 {
		timeout /= shares
	}
	return &dialer{Dialer: net.Dialer{Timeout: timeout}, first: first, open: map[*trackedConn]struct{}{}}
}

// shares is how many silent addresses a request may come upon and still be made. A quarter of the default is enough for one lost
// packet, which is sent again after a second.
const shares = 4

// DialContext opens a connection that closeAll can close.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.passOver(addr) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s did not answer a moment ago: %w", addr, os.ErrDeadlineExceeded)}
	}
	conn, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: conn, from: d, addr: addr}
	if err := t.SetDeadline(time.Time{}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if !d.keep(t) {
		return nil, errors.Join(&net.OpError{Op: "dial", Net: network, Err: net.ErrClosed}, conn.Close())
	}
	return t, nil
}

// keep remembers a connection, unless all were closed meanwhile.
func (d *dialer) keep(t *trackedConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.open[t] = struct{}{}
	}
	return !d.closed
}

// silence is how long an address that did not answer is passed over, in times of patience.
const silence = 3

// passOver reports whether to try other addresses first. A stopped machine takes connections and answers nothing, and the
// group's library asks the first address each time.
func (d *dialer) passOver(addr string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.first) > 1 && time.Now().Before(d.silent[addr])
}

// noteSilent has an address passed over. Where none of those to begin with has answered it is the network that was away: none
// is passed over then, so that the group is back as soon as it is.
func (d *dialer) noteSilent(addr string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.silent == nil {
		d.silent = map[string]time.Time{}
	}
	now := time.Now()
	d.silent[addr] = now.Add(silence * d.patience)
	if !slices.ContainsFunc(d.first, func(a string) bool { return !now.Before(d.silent[a]) }) {
		clear(d.silent)
	}
}

// closeAll closes every open connection, and those that are opened later.
func (d *dialer) closeAll() {
	d.mu.Lock()
	d.closed = true
	open := make([]*trackedConn, 0, len(d.open))
	for c := range d.open {
		open = append(open, c)
	}
	d.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // the peer may have closed it already; either way it is gone
	}
}

type trackedConn struct {
	net.Conn
	from *dialer
	addr string
	// heard says that the peer has answered. One goroutine reads.
	heard bool
}

// Read notes a peer that has never answered when its time is over.
func (c *trackedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard = true
	}
	if !c.heard && errors.Is(err, os.ErrDeadlineExceeded) && c.from.patience > 0 {
		c.from.noteSilent(c.addr)
	}
	return n, err
}

// deadline is t, or the end of the dialer's patience: kafka-go logs a group's connection in without a deadline.
func (c *trackedConn) deadline(t time.Time) time.Time {
	if t.IsZero() && c.from.patience > 0 {
		return time.Now().Add(c.from.patience)
	}
	return t
}

// SetDeadline is never without an end where the dialer's patience has one.
func (c *trackedConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.deadline(t)) }

// SetReadDeadline is SetDeadline for reads.
func (c *trackedConn) SetReadDeadline(t time.Time) error {
	return c.Conn.SetReadDeadline(c.deadline(t))
}

// SetWriteDeadline is SetDeadline for writes.
func (c *trackedConn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.deadline(t))
}

// Close closes the connection and forgets it.
func (c *trackedConn) Close() error {
	c.from.mu.Lock()
	delete(c.from.open, c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}
