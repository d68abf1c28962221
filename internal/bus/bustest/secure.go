package bustest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
)

// Secure is a cluster that can be reached in several ways. Its certificate is for 127.0.0.1 and no other name.
type Secure struct {
	Login  string // address of a listener with SASL and no TLS
	TLS    string // with SASL over TLS
	Mutual string // with TLS and client certificates
	Open   string // of one without TLS, which ends a connection that begins with TLS
	// CA, Cert and Key are files: of the cluster's authority, and of a certificate that the cluster accepts. Those of a
	// stranger are of another authority.
	CA, Cert, Key                         string
	StrangerCA, StrangerCert, StrangerKey string
	User, Password                        string
}

// CheckSecure reaches a cluster in every way that is right, and in ways that are wrong: those are errors of a class of their
// own that say what to do.
func CheckSecure(t *testing.T, s Secure) {
	t.Helper()
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			s.check(t, s.login(mechanism), nil, "")
			plain := s.login(mechanism)
			plain.Brokers, plain.TLS = []string{s.Login}, bus.TLS{}
			s.check(t, plain, nil, "")
			wrong := s.login(mechanism)
			wrong.Password = secret.New("canary-5d1")
			s.check(t, wrong, bus.ErrLogin, "")
			wrong = s.login(mechanism)
			wrong.User = "nobody"
			s.check(t, wrong, bus.ErrLogin, "")
		})
	}
	for name, tc := range map[string]struct {
		change func(*bus.Config)
		want   error
		says   string
	}{
		"the system's authorities": {func(c *bus.Config) { c.TLS.CAFile = "" }, trust.ErrUnknownCA, "kafka.ca"},
		"another authority":        {func(c *bus.Config) { c.TLS.CAFile = s.StrangerCA }, trust.ErrUnknownCA, "kafka.ca"},
		"another name": {func(c *bus.Config) {
			_, port, _ := net.SplitHostPort(s.TLS)
			c.Brokers = []string{"localhost:" + port}
		}, trust.ErrOtherHost, "localhost"},
		"plain text to TLS":     {func(c *bus.Config) { c.TLS = bus.TLS{} }, trust.ErrTLSServer, "kafka.tls"},
		"TLS to plain text":     {func(c *bus.Config) { c.Brokers = []string{s.Open} }, trust.ErrPlainServer, "kafka.tls"},
		"a certificate":         {s.mutual(s.Cert, s.Key), nil, ""},
		"no certificate":        {s.mutual("", ""), bus.ErrClientCertificate, "kafka.cert"},
		"another's certificate": {s.mutual(s.StrangerCert, s.StrangerKey), bus.ErrClientCertificate, "kafka.cert"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := s.login("SCRAM-SHA-512")
			tc.change(&cfg)
			s.check(t, cfg, tc.want, tc.says)
		})
	}
}

func (s Secure) login(mechanism string) bus.Config {
	return times(bus.Config{
		Brokers: []string{s.TLS}, Mechanism: mechanism, User: s.User, Password: secret.New(s.Password),
		TLS: bus.TLS{Enabled: true, CAFile: s.CA}, RequestTimeout: 5 * time.Second,
	}, leastSession)
}

// mutual is TLS with a client's certificate instead of a login.
func (s Secure) mutual(cert, key string) func(*bus.Config) {
	return func(c *bus.Config) {
		c.Brokers, c.Mechanism, c.User, c.Password = []string{s.Mutual}, "", "", secret.Text{}
		c.TLS.CertFile, c.TLS.KeyFile = cert, key
	}
}

// check connects, and compares what comes of it.
func (s Secure) check(t *testing.T, cfg bus.Config, want error, says string) {
	t.Helper()
	c, err := bus.New(cfg, bus.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = c.Ready(ctx)
	switch {
	case want == nil && err != nil:
		t.Errorf("%s: %v", cfg.Brokers, err)
	case want != nil && !errors.Is(err, want):
		t.Errorf("%s: got %v, want %v", cfg.Brokers, err, want)
	case err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "canary")):
		t.Errorf("%s: %v", cfg.Brokers, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: it was tried until there was no time left", cfg.Brokers)
	}
}
