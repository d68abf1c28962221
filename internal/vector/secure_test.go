package vector

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
)

// ready opens the store and waits for it, for no longer than a failure may take.
func ready(t *testing.T, cfg Config) error {
	t.Helper()
	c, err := New(cfg, Settings{})
	if err != nil {
		return err
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.Ready(ctx)
}

func TestAServerIsHeldToItsCertificate(t *testing.T) {
	server := serve(t, t.TempDir(), "127.0.0.1:0")
	ca, stranger := trusttest.NewCA(t), trusttest.NewCA(t)
	front := func(cert tls.Certificate) string { return trusttest.Front(t, cert, server.Addr(), "h2") }
	good := Config{Addr: front(ca.Now(t)), APIKey: secret.New(testKey), TLS: true, CAFile: ca.File}

	if err := ready(t, good); err != nil {
		t.Fatalf("the right authority: %v", err)
	}
	for name, tc := range map[string]struct {
		change func(*Config)
		want   error
		remedy string
	}{
		"another authority": {func(c *Config) { c.CAFile = stranger.File }, trust.ErrUnknownCA, "qdrant.ca"},
		"the system's":      {func(c *Config) { c.CAFile = "" }, trust.ErrUnknownCA, "qdrant.ca"},
		"another host": {func(c *Config) {
			c.Addr = front(ca.Server(t, time.Now().Add(time.Hour), "10.1.2.3"))
		}, trust.ErrOtherHost, "10.1.2.3"},
		"expired": {func(c *Config) {
			c.Addr = front(ca.Server(t, time.Now().Add(-time.Minute), "127.0.0.1"))
		}, trust.ErrExpired, "renew"},
		"TLS to a plain port": {func(c *Config) { c.Addr = server.Addr() }, trust.ErrPlainServer, "qdrant.tls"},
		"plain text to TLS":   {func(c *Config) { c.TLS, c.CAFile = false, "" }, trust.ErrTLSServer, "qdrant.tls"},
		"a wrong key":         {func(c *Config) { c.APIKey = secret.New("no-" + testKey) }, ErrUnauthorized, "API key"},
		"no such file":        {func(c *Config) { c.CAFile += ".not" }, os.ErrNotExist, "qdrant.ca"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			tc.change(&cfg)
			err := ready(t, cfg)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.remedy) {
				t.Errorf("%v", err)
			}
			if err != nil && (strings.Contains(err.Error(), testKey) || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := New(Config{Addr: good.Addr, CAFile: ca.File}, Settings{}); err == nil {
		t.Error("certificates to trust without TLS are taken")
	}
}
