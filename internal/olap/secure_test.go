package olap_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
)

const canary = "correct-horse-battery"

// ready opens the warehouse and waits for it, for no longer than a failure may take.
func ready(t *testing.T, cfg olap.Config) error {
	t.Helper()
	conn, err := olap.Open(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return olap.Ready(ctx, conn)
}

func TestAServerIsHeldToItsCertificate(t *testing.T) {
	server := clickhousetest.Start(t)
	login := olap.Config{User: clickhousetest.User, Password: secret.New(clickhousetest.Password)}
	ca, stranger := trusttest.NewCA(t), trusttest.NewCA(t)
	front := func(cert tls.Certificate) string { return "https://" + trusttest.Front(t, cert, server.Addr()) }
	good := front(ca.Now(t))
	login.URL, login.CAFile = good, ca.File

	if err := ready(t, login); err != nil {
		t.Fatalf("the right authority: %v", err)
	}
	for name, tc := range map[string]struct {
		change func(*olap.Config)
		want   error
		remedy string
	}{
		"another authority": {func(c *olap.Config) { c.CAFile = stranger.File }, trust.ErrUnknownCA, "clickhouse.ca"},
		"the system's":      {func(c *olap.Config) { c.CAFile = "" }, trust.ErrUnknownCA, "clickhouse.ca"},
		"another host": {func(c *olap.Config) {
			c.URL = front(ca.Server(t, time.Now().Add(time.Hour), "10.1.2.3"))
		}, trust.ErrOtherHost, "10.1.2.3"},
		"expired": {func(c *olap.Config) {
			c.URL = front(ca.Server(t, time.Now().Add(-time.Minute), "127.0.0.1"))
		}, trust.ErrExpired, "renew"},
		"TLS to a plain port":   {func(c *olap.Config) { c.URL = "https://" + server.Addr() }, trust.ErrPlainServer, "clickhouse.url"},
		"plain text to TLS":     {func(c *olap.Config) { c.URL = "http" + strings.TrimPrefix(good, "https") }, trust.ErrTLSServer, "https://"},
		"a wrong password":      {func(c *olap.Config) { c.Password = secret.New(canary) }, olap.ErrLogin, "clickhouse.password"},
		"no such file":          {func(c *olap.Config) { c.CAFile += ".not" }, os.ErrNotExist, "clickhouse.ca"},
		"a file of other bytes": {func(c *olap.Config) { c.CAFile = nothing(t) }, trust.ErrFile, "no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := login
			tc.change(&cfg)
			began := time.Now()
			err := ready(t, cfg)
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.remedy) {
				t.Errorf("%v", err)
			}
			if err != nil && (strings.Contains(err.Error(), canary) || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		})
	}
}

func nothing(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server that is asked by TLS may not send its clients, and with them the password, to where there is none.
func TestNoRedirectIsFollowed(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	ca := trusttest.NewCA(t)
	err := ready(t, olap.Config{
		URL: "https://" + trusttest.Front(t, ca.Now(t), server.Listener.Addr().String()), CAFile: ca.File, User: "u", Password: secret.New(canary),
	})
	if !errors.Is(err, trust.ErrRedirect) || asked {
		t.Errorf("asked %t: %v", asked, err)
	}
}

// A proxy before the warehouse may want a login of its own; no answer of it is worth asking again for.
func TestALoginThatIsNotTheWarehousesIsRefused(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer proxy.Close()
	if err := ready(t, olap.Config{URL: proxy.URL, User: "u", Password: secret.New(canary)}); !errors.Is(err, olap.ErrLogin) {
		t.Errorf("%v", err)
	}
}
