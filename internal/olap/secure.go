package olap

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/internal/trust"
)

// names are the settings that errors of TLS speak of.
func names() trust.Names {
	return trust.Names{
		CA: "clickhouse.ca", Plain: "write http:// in clickhouse.url when the way to it is safe", TLS: "write https:// in clickhouse.url",
	}
}

// secure sets up TLS where the address says so.
func secure(options *clickhouse.Options, cfg Config, u *url.URL) error {
	if u.Scheme == "https" {
		certs, err := trust.Config(cfg.CAFile, u.Hostname())
		if err != nil {
			return fmt.Errorf("clickhouse.ca: %w", err)
		}
		options.TLS = certs
	}
	return nil
}

// transport explains what keeps a server from being spoken to. It does not pass on CloseIdleConnections, which the client calls when
// one of its connections ends: the sockets are those of all of them.
type transport struct {
	inner http.RoundTripper
	addr  string
	plain bool
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.inner.RoundTrip(req)
	if err == nil && !(t.plain && odd(resp)) {
		return resp, nil
	}
	if t.plain && (err == nil || puzzling(err)) {
		if tls := trust.SpeaksTLS(req.Context(), t.addr, names()); tls != nil {
			if resp != nil {
				_ = resp.Body.Close() // the explanation says more
			}
			return nil, tls
		}
	}
	if err != nil {
		if explained := trust.Explain(t.addr, names(), err); explained != nil {
			return nil, explained
		}
	}
	return resp, err
}

// odd is an answer that no ClickHouse gives: a server of TLS that is asked in plain text may give one.
func odd(resp *http.Response) bool {
	return resp.StatusCode == http.StatusBadRequest && resp.Header.Get("X-ClickHouse-Exception-Code") == ""
}

// puzzling is a failure after the connection was made.
func puzzling(err error) bool {
	for _, sign := range []string{"malformed HTTP", "EOF", "reset by peer"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}
