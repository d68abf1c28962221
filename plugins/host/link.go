package host

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// link is the way to a plugin. It knows whether the plugin's end of it is gone, which gRPC tells with the same code as much
// else: a plugin that answers so itself, or is slow to accept a connection.
type link struct {
	network, address string
	broken           atomic.Bool // and stays so: a plugin that works never closes its end
}

func (l *link) dial(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, l.network, l.address)
	if err != nil {
		// Other errors say nothing about the plugin: that its queue of connections is full, for one.
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
			l.broken.Store(true)
		}
		return nil, err
	}
	return &linkConn{c, l}, nil
}

// linkConn marks its link as broken before gRPC hears of it.
type linkConn struct {
	net.Conn
	link *link
}

func (c *linkConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note(err)
	return n, err
}

func (c *linkConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.note(err)
	return n, err
}

func (c *linkConn) note(err error) {
	ours := errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded)
	if err != nil && !ours {
		c.link.broken.Store(true)
	}
}
