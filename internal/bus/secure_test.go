package bus_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/test/kafka/pki"
)

const loginPassword = "a password of the tests"

// secured runs a broker and is its address.
func secured(t *testing.T, opts ...kfake.Opt) string {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

func logins() []kfake.Opt {
	opts := []kfake.Opt{kfake.EnableSASL()}
	for _, m := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		opts = append(opts, kfake.Superuser(m, "me", loginPassword))
	}
	return opts
}

// files makes an authority and certificates of it, one of them the server's as Go reads it.
func files(t *testing.T, life time.Duration) (*pki.Authority, pki.Files, tls.Certificate) {
	t.Helper()
	ca, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	f, err := ca.Write(filepath.Join(t.TempDir(), "certificates"), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	pem, err := ca.Issue("server", life, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair(pem.Cert, pem.Key)
	if err != nil {
		t.Fatal(err)
	}
	return ca, f, cert
}

func TestConnectionsAreSecuredAndWhatIsWrongIsNamed(t *testing.T) {
	ca, f, cert := files(t, time.Hour)
	_, stranger, _ := files(t, time.Hour)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.PEM)
	serve := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	mutual := serve.Clone()
	mutual.ClientCAs, mutual.ClientAuth = pool, tls.RequireAndVerifyClientCert
	bustest.CheckSecure(t, bustest.Secure{
		Login: secured(t, logins()...), TLS: secured(t, append(logins(), kfake.TLS(serve))...), Mutual: secured(t, kfake.TLS(mutual)),
		Open: bustest.Start(t).Addr(),
		CA:   f.CA, Cert: f.Client, Key: f.ClientKey,
		StrangerCA: stranger.CA, StrangerCert: stranger.Client, StrangerKey: stranger.ClientKey,
		User: "me", Password: loginPassword,
	})
}

func TestAnExpiredCertificateIsNamed(t *testing.T) {
	_, f, cert := files(t, -time.Hour)
	serve := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	c, err := bus.New(bus.Config{
		Brokers: []string{secured(t, append(logins(), kfake.TLS(serve))...)}, TLS: bus.TLS{Enabled: true, CAFile: f.CA},
		Mechanism: "SCRAM-SHA-512", User: "me", Password: secret.New(loginPassword),
	}, bus.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, err := range map[string]error{
		"ready": c.Ready(t.Context()), "append": c.Append(t.Context(), newEvent(topic, "k", "a")),
		"consume": c.Consume(t.Context(), group, []string{topic}, nil, &recorder{}),
	} {
		if !errors.Is(err, trust.ErrExpired) || !strings.Contains(err.Error(), "renew") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesOfCertificatesAreNamed(t *testing.T) {
	_, f, _ := files(t, time.Hour)
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]bus.TLS{
		none:        {Enabled: true, CAFile: none},
		empty:       {Enabled: true, CAFile: empty},
		f.ServerKey: {Enabled: true, CertFile: f.Client, KeyFile: f.ServerKey},
	} {
		if _, err := bus.New(bus.Config{Brokers: []string{"a:1"}, TLS: c}, bus.Settings{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v does not name %s", c, err, name)
		}
	}
}

// A cluster that wants a login ends the connections of those that bring none.
func TestALoginThatIsMissingIsGuessed(t *testing.T) {
	c, err := bus.New(bus.Config{Brokers: []string{secured(t, logins()...)}}, bus.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for c.Stats().Retries == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if err := c.Ready(ctx); err == nil || !strings.Contains(err.Error(), "kafka.user") {
		t.Errorf("got %v", err)
	}
}
