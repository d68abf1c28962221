package vector

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/trust"
)

// names are the settings that errors of TLS speak of.
func names() trust.Names {
	return trust.Names{CA: "qdrant.ca", Plain: "set qdrant.tls to false when the way to it is safe", TLS: "set qdrant.tls to true"}
}

// peer is the transport security of the connections. It keeps what a handshake failed with: of that, gRPC passes on the
// text only, as of a server that may answer later.
type peer struct {
	credentials.TransportCredentials
	addr string
	tls  bool
	last *atomic.Pointer[error]
}

func newPeer(cfg Config, host string) (*peer, error) {
	p := &peer{addr: cfg.Addr, tls: cfg.TLS, last: new(atomic.Pointer[error])}
	if !cfg.TLS {
		p.TransportCredentials = insecure.NewCredentials()
		return p, nil
	}
	certs, err := trust.Config(cfg.CAFile, host)
	if err != nil {
		return nil, fmt.Errorf("qdrant.ca: %w", err)
	}
	p.TransportCredentials = credentials.NewTLS(certs)
	return p, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (p *peer) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := p.TransportCredentials.ClientHandshake(ctx, authority, conn)
	if err != nil {
		p.last.Store(&err)
	} else {
		p.last.Store(nil)
	}
	return secured, info, err
}

// Clone implements credentials.TransportCredentials.
func (p *peer) Clone() credentials.TransportCredentials {
	return &peer{TransportCredentials: p.TransportCredentials.Clone(), addr: p.addr, tls: p.tls, last: p.last}
}

// failed explains a call that failed because of TLS, as a *trust.Error; nil: it did not.
func (p *peer) failed(ctx context.Context, err error) error {
	if status.Code(err) != codes.Unavailable {
		return nil
	}
	if !p.tls {
		// What a server of TLS answers to plain text is no HTTP/2.
		for _, sign := range []string{"server preface", "EOF", "reset by peer"} {
			if strings.Contains(err.Error(), sign) {
				return trust.SpeaksTLS(ctx, p.addr, names())
			}
		}
		return nil
	}
	if cause := p.last.Load(); cause != nil {
		return trust.Explain(p.addr, names(), *cause)
	}
	return nil
}
