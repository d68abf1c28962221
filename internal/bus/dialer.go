package bus

import (
	"context"
	"net"
	"sync"
	"time"
)

// dialer remembers the connections it opened. kafka-go waits for the answer to
// a request whose context has ended; closing the connection is what frees it.
type dialer struct {
	net.Dialer

	mu   sync.Mutex // guards the following
	open map[*trackedConn]struct{}
}

func newDialer(timeout time.Duration) *dialer {
	return &dialer{Dialer: net.Dialer{Timeout: timeout}, open: map[*trackedConn]struct{}{}}
}

// DialContext opens a connection that closeAll can close.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t := &trackedConn{Conn: conn, from: d}
	d.mu.Lock()
	d.open[t] = struct{}{}
	d.mu.Unlock()
	return t, nil
}

// closeAll closes every open connection.
func (d *dialer) closeAll() {
	d.mu.Lock()
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
}

// Close closes the connection and forgets it.
func (c *trackedConn) Close() error {
	c.from.mu.Lock()
	delete(c.from.open, c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}
