//go:build linux

package chaos

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay forwards TCP connections to a server. It can go half-open: what it holds stays connected and nothing passes any
// more, as when a machine in between has forgotten the connection.
type relay struct {
	ln      net.Listener
	to      string
	forward func(p *passage) // copies until one side ends; nil copies bytes as they are
	wg      sync.WaitGroup

	mu       sync.Mutex // guards the following
	passages map[*passage]struct{}
	deaf     bool // new connections are accepted and not forwarded
	closed   bool
}

// passage is one connection through a relay.
type passage struct {
	client, server net.Conn
	once           sync.Once
	frozen         chan struct{} // closed: nothing passes
	over           chan struct{} // closed: both ends are closed
}

func newRelay(t *testing.T, to string, forward func(*passage)) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{ln: ln, to: to, forward: forward, passages: map[*passage]struct{}{}}
	if r.forward == nil {
		r.forward = copyBytes
	}
	r.wg.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

// addr is where clients connect.
func (r *relay) addr() string { return r.ln.Addr().String() }

func (r *relay) accept() {
	for {
		c, err := r.ln.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() { r.serve(c) })
	}
}

func (r *relay) serve(client net.Conn) {
	p := &passage{client: client, frozen: make(chan struct{}), over: make(chan struct{})}
	if !r.enter(p) {
		p.close()
		return
	}
	defer r.leave(p)
	if p.isFrozen() {
		<-p.over
		return
	}
	server, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	p.server = server
	r.forward(p)
}

func (r *relay) enter(p *passage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.passages[p] = struct{}{}
	if r.deaf {
		close(p.frozen)
	}
	return true
}

func (r *relay) leave(p *passage) {
	p.close()
	if p.server != nil {
		_ = p.server.Close() // it may be closed already
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.passages, p)
}

// freeze makes the connections of now half-open, and with deaf those to come. It returns how many it froze.
func (r *relay) freeze(deaf bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = deaf
	for p := range r.passages {
		if !p.isFrozen() {
			close(p.frozen)
			n++
		}
	}
	return n
}

// held is how many connections there are.
func (r *relay) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.passages)
}

// thaw ends the half-open connections, which their clients learn now, and lets new ones pass.
func (r *relay) thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = false
	for p := range r.passages {
		if p.isFrozen() {
			p.close()
		}
	}
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	_ = r.ln.Close() // ends accept
	for p := range r.passages {
		p.close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func (p *passage) isFrozen() bool {
	select {
	case <-p.frozen:
		return true
	default:
		return false
	}
}

// close ends both sides.
func (p *passage) close() {
	p.once.Do(func() {
		close(p.over)
		_ = p.client.Close() // the other side may have closed it
	})
}

// pass writes to one side unless the passage is frozen, in which case it waits for the passage to end.
func (p *passage) pass(to io.Writer, b []byte) error {
	if p.isFrozen() {
		<-p.over
		return net.ErrClosed
	}
	_, err := to.Write(b)
	return err
}

// copyBytes forwards until one side ends.
func copyBytes(p *passage) {
	p.both(func(from io.Reader, to io.Writer) {
		b := make([]byte, 32<<10)
		for {
			n, err := from.Read(b)
			if n > 0 && p.pass(to, b[:n]) != nil || err != nil {
				return
			}
		}
	})
}

// both runs a copier each way and ends the passage with the first that returns. While the passage is frozen nothing ends it
// but thaw: the end of one side does not reach the other.
func (p *passage) both(copier func(from io.Reader, to io.Writer)) {
	p.each(func() { copier(p.client, p.server) }, func() { copier(p.server, p.client) })
}

func (p *passage) each(up, down func()) {
	var wg sync.WaitGroup
	for _, run := range []func(){up, down} {
		wg.Go(func() {
			run()
			if p.isFrozen() {
				<-p.over
			}
			p.close()
			_ = p.server.Close() // ends the other copier
		})
	}
	wg.Wait()
}
