package checkpoints

import (
	"context"
	"net"
	"time"
)

// dial opens a connection.
type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// impatient gives up connections that carry nothing for that long: a state may take hours, but a machine that is gone says
// nothing, and the request is to be made anew.
func impatient(open dial, patience time.Duration) dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := open(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &impatientConn{conn, patience}, nil
	}
}

type impatientConn struct {
	net.Conn
	patience time.Duration
}

// more puts the end off: an answer is waited for as long as its request is on its way.
func (c *impatientConn) more() error { return c.SetDeadline(time.Now().Add(c.patience)) }

// Read reads what comes in time.
func (c *impatientConn) Read(p []byte) (int, error) {
	if err := c.more(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes what goes in time.
func (c *impatientConn) Write(p []byte) (int, error) {
	if err := c.more(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
