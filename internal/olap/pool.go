package olap

import (
	"net/http"
	"sync"

	"github.com/seed256f7767/spade/internal/trust"
)

// pool is the client's pool with an owner of its connections. The client gives each of its connections a transport of its own and
// forgets it, socket and all, when the greeting fails or is given up while the socket is made: until the lifetime of a connection has
// passed, every try would leave one open.
type pool struct {
	Conn
	transport *sharedTransport
}

// Close closes the pool. No statement may be running.
func (p *pool) Close() error {
	defer p.transport.close()
	return p.Conn.Close()
}

// sharedTransport is the one transport of a pool. Safe for concurrent use.
type sharedTransport struct {
	addr  string // as trust.Explain names it
	plain bool
	most  int // statements at once

	mu    sync.Mutex
	inner *http.Transport // nil: nothing was dialed yet
}

// share is a clickhouse.Options.TransportFunc. All transports are made with the same options: the first one is kept and the others,
// which have not been used, are dropped.
func (s *sharedTransport) share(made *http.Transport) (http.RoundTripper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inner == nil {
		made.MaxIdleConns, made.MaxIdleConnsPerHost = s.most, s.most
		s.inner = made
	}
	return &transport{inner: trust.Stay(s.inner), addr: s.addr, plain: s.plain}, nil
}

// close closes the connections that are idle now, and those in use as soon as they are not.
func (s *sharedTransport) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inner != nil {
		s.inner.CloseIdleConnections()
	}
}
