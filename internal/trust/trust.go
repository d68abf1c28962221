package trust

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// ErrFile: the file of certificates to trust cannot be used.
var ErrFile = errors.New("file of certificates to trust")

// Config is a client's side of TLS to a host, by the certificates in caFile, or the system's where it is empty.
func Config(caFile, host string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if caFile == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: %s holds no certificate in PEM", ErrFile, caFile)
	}
	return cfg, nil
}

// ErrRedirect: the server sends its clients elsewhere.
var ErrRedirect = errors.New("the server redirects")

// Stay wraps a transport so that redirects are errors: a client that followed one would take its credentials to where it
// was sent, by plain text where that is said.
func Stay(inner http.RoundTripper) http.RoundTripper { return stay{inner} }

type stay struct{ inner http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s stay) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w (status %d): give the address that it sends to", ErrRedirect, resp.StatusCode)
	}
	return resp, nil
}

// CloseIdleConnections passes on.
func (s stay) CloseIdleConnections() {
	if c, ok := s.inner.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
