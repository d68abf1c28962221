package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/trust"
)

// ErrClientCertificate: the cluster wants a certificate of the client, and has none or not one that it accepts.
var ErrClientCertificate = errors.New("kafka: client certificate refused")

// tlsNames are the settings that errors about TLS speak of.
func tlsNames() trust.Names {
	return trust.Names{CA: "kafka.ca", Plain: "switch kafka.tls off", TLS: "switch kafka.tls on"}
}

// untrusted is what is wrong with TLS, nil when something else is: trying again would not help.
func (c *Client) untrusted(err error) error {
	if err == nil || !c.cfg.TLS.Enabled {
		return nil
	}
	if e := trust.Explain(strings.Join(c.cfg.Brokers, ","), tlsNames(), err); e != nil {
		return e
	}
	if alert := remoteAlert(err); alert != nil {
		if c.cfg.TLS.CertFile == "" {
			return fmt.Errorf("%w: the cluster asks for one: set kafka.cert and kafka.key (%w)", ErrClientCertificate, alert)
		}
		return fmt.Errorf("%w: have one made by an authority that the cluster trusts, or renew it: kafka.cert (%w)", ErrClientCertificate, alert)
	}
	return nil
}

// remoteAlert is what the other side of a TLS session said before it ended it.
func remoteAlert(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return op.Err
	}
	return nil
}

// probeTimeout bounds a look at what a broker speaks.
const probeTimeout = 2 * time.Second

// misfit is why the first broker ends connections at once, as far as TLS is the reason: a server that is spoken to in another
// protocol than its own does that.
func (c *Client) misfit(ctx context.Context, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if !c.cfg.TLS.Enabled {
		return trust.SpeaksTLS(ctx, c.cfg.Brokers[0], tlsNames())
	}
	return c.handshake(ctx)
}

// handshake begins a TLS session and waits for what the server has against it.
func (c *Client) handshake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	addr := c.cfg.Brokers[0]
	raw, err := c.dial.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil // it is not there, which is another matter
	}
	defer func() { _ = raw.Close() }() // nothing was said over it
	cfg := c.transport.TLS.Clone()
	if host, _, err := net.SplitHostPort(addr); err == nil && cfg.ServerName == "" {
		cfg.ServerName = host
	}
	conn := tls.Client(raw, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return fmt.Errorf("%s: %w: give the port that it speaks TLS on, or switch kafka.tls off", addr, trust.ErrPlainServer)
		}
		return c.untrusted(err)
	}
	// A server says that it misses a certificate when the client regards the session as begun.
	if err := conn.SetReadDeadline(time.Now().Add(probeTimeout / 4)); err != nil {
		return nil
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return c.untrusted(err)
	}
	return nil
}
