package embedding

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
)

// askedURL names the endpoint that TestAskAnEndpoint asks; the test runs in a process of its own, whose system has other
// authorities.
const askedURL = "SPADE_TEST_EMBEDDINGS_URL"

// TestAskAnEndpoint is the part of TestAnEndpointIsHeldToItsCertificate that another process runs.
func TestAskAnEndpoint(t *testing.T) {
	if os.Getenv(askedURL) == "" {
		return
	}
	e, err := NewEndpoint(EndpointConfig{URL: os.Getenv(askedURL), Key: secret.New(canary), Model: "m", Dim: 3, Tries: 2})
	if err != nil {
		t.Fatal(err)
	}
	e.first = time.Millisecond
	_, err = e.Embed(t.Context(), []string{"a"}, Document)
	e.client.CloseIdleConnections()
	for name, class := range map[string]error{
		"unknown": trust.ErrUnknownCA, "host": trust.ErrOtherHost, "expired": trust.ErrExpired, "plain": trust.ErrPlainServer,
		"redirect": trust.ErrRedirect, "refused": ErrEndpointRefused,
	} {
		if errors.Is(err, class) {
			t.Log("class", name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnEndpointIsHeldToItsCertificate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(t, w, r)
	}))
	t.Cleanup(server.Close)
	away := httptest.NewServer(http.RedirectHandler(server.URL+"/v1/embeddings", http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	ca, stranger := trusttest.NewCA(t), trusttest.NewCA(t)
	front := func(cert tls.Certificate, to *httptest.Server) string {
		return "https://" + trusttest.Front(t, cert, to.Listener.Addr().String()) + "/v1"
	}
	good := front(ca.Now(t), server)
	for name, tc := range map[string]struct{ url, ca, want string }{
		"the right authority": {good, ca.File, ""},
		"another authority":   {good, stranger.File, "unknown"},
		"another host":        {front(ca.Server(t, time.Now().Add(time.Hour), "10.1.2.3"), server), ca.File, "host"},
		"expired":             {front(ca.Server(t, time.Now().Add(-time.Minute), "127.0.0.1"), server), ca.File, "expired"},
		"TLS to a plain port": {"https://" + server.Listener.Addr().String() + "/v1", ca.File, "plain"},
		"sent elsewhere":      {front(ca.Now(t), away), ca.File, "redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAskAnEndpoint$", "-test.v")
			cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+tc.ca, "SSL_CERT_DIR="+t.TempDir(), askedURL+"="+tc.url)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (tc.want == "") || tc.want != "" && !strings.Contains(string(out), "class "+tc.want) {
				t.Errorf("%v\n%s", err, out)
			}
			if tc.want != "" && !strings.Contains(string(out), "class refused") || strings.Contains(string(out), canary) {
				t.Errorf("it would be asked again, or tells the key:\n%s", out)
			}
		})
	}
}
