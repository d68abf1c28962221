package kafka

import (
	"bufio"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxFrame is Kafka's own socket.request.max.bytes.
const maxFrame = 100 << 20

// maxEarlyFrame bounds what a client may send before it has authenticated.
const maxEarlyFrame = 64 << 10

// scramSteps is how many SaslAuthenticate requests a SCRAM login takes.
const scramSteps = 2

// headerLen is the size, key and version of a request.
const headerLen = 8

var errFrame = errors.New("embedded kafka: not a Kafka request")

// guardListener wraps each connection in a guardConn.
//
// kfake allocates whatever size the first four bytes claim, up to 4 GiB, and
// dereferences nil for a request key it does not know. A browser that posts to
// the port, or a port scanner, would do either.
type guardListener struct {
	net.Listener
	log *slog.Logger
}

// Accept waits for a connection and puts the guard before it.
func (l guardListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guardConn{Conn: conn, in: bufio.NewReaderSize(conn, 4096), log: l.log}, nil
}

// guardConn passes whole, well-formed request frames and closes on any other.
// Only the broker's one reader goroutine calls Read.
type guardConn struct {
	net.Conn
	in     *bufio.Reader
	left   int // unread bytes of the current frame
	logins int // SaslAuthenticate requests so far
	// versions says that the next answer is one to ApiVersions.
	versions atomic.Bool
	log      *slog.Logger
}

// Read returns bytes of the current frame, after checking its header.
func (c *guardConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		if err := c.nextFrame(); err != nil {
			return 0, err
		}
	}
	if len(p) > c.left {
		p = p[:c.left]
	}
	n, err := c.in.Read(p)
	c.left -= n
	return n, err
}

func (c *guardConn) nextFrame() error {
	head, err := c.in.Peek(headerLen)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head)
	key := int16(binary.BigEndian.Uint16(head[4:]))
	version := int16(binary.BigEndian.Uint16(head[6:]))
	if !c.allowed(size, key, version) {
		c.log.Warn("embedded kafka refused a connection that does not speak its protocol",
			"remote", c.RemoteAddr().String(), "frame_bytes", size, "request_key", key, "request_version", version)
		return errFrame
	}
	switch kmsg.Key(key) {
	case kmsg.SASLAuthenticate:
		c.logins++
	case kmsg.ApiVersions:
		c.versions.Store(true)
	}
	c.left = 4 + int(size)
	return nil
}

func (c *guardConn) allowed(size uint32, key, version int16) bool {
	limit := uint32(maxEarlyFrame)
	if c.logins >= scramSteps {
		limit = maxFrame
	}
	if size < headerLen || size > limit {
		return false
	}
	req := kmsg.RequestForKey(key)
	return req != nil && version >= 0 && version <= req.MaxVersion()
}
