package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
	"github.com/seed256f7767/spade/plugins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// saying answers every prompt with its name and what was asked, or with an error.
type saying struct {
	name string
	err  error
}

func (s saying) Generate(_ context.Context, role policy.Role, version int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	if s.err != nil {
		return nil, s.err
	}
	out := make([]policy.Completion, len(prompts))
	for i, p := range prompts {
		out[i] = policy.Completion{
			ID: p.ID, Text: fmt.Sprintf("%s %s %d %s", s.name, role, version, p.Messages[0].Content), TokenIDs: []int32{1}, Logprobs: []float32{-1},
		}
	}
	return out, nil
}

func prompts(n int) []policy.Prompt {
	out := make([]policy.Prompt, n)
	for i := range out {
		out[i] = policy.Prompt{ID: fmt.Sprint(i), Messages: []policy.Message{{Role: "user", Content: fmt.Sprint("é", i)}}}
	}
	return out
}

func start(t *testing.T, cfg ServerConfig) *Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, cfg ClientConfig, run uuid.UUID) *Client {
	t.Helper()
	c, err := Dial(cfg, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestEachRunIsAnsweredByItsOwn(t *testing.T) {
	s := start(t, ServerConfig{})
	one, two := uuid.New(), uuid.New()
	s.Add(one, saying{name: "one"}, plugins.Info{})
	s.Add(two, saying{name: "two"}, plugins.Info{})
	var work sync.WaitGroup
	for name, run := range map[string]uuid.UUID{"one": one, "two": two} {
		c := dial(t, ClientConfig{Addr: s.Addr()}, run)
		work.Go(func() {
			got, err := c.Generate(t.Context(), policy.Agent, 7, prompts(200))
			if err != nil || len(got) != 200 {
				t.Errorf("%d answers: %v", len(got), err)
				return
			}
			for i, g := range got {
				if want := fmt.Sprintf("%s agent 7 é%d", name, i); g.Text != want || g.ID != fmt.Sprint(i) || len(g.Logprobs) != 1 {
					t.Errorf("answer %d is %+v, want %q", i, g, want)
				}
			}
		})
	}
	work.Wait()
}

func TestInfoIsOfTheRunsPlugin(t *testing.T) {
	s := start(t, ServerConfig{})
	run := uuid.New()
	c := dial(t, ClientConfig{Addr: s.Addr()}, run)
	time.AfterFunc(50*time.Millisecond, func() { s.Add(run, saying{}, plugins.Info{Name: "native", Version: "2", Roles: []string{"agent"}}) })
	if got, err := c.Info(t.Context()); err != nil || got.Name != "native" || got.Version != "2" || len(got.Roles) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestClassesOfErrorsCross(t *testing.T) {
	s := start(t, ServerConfig{})
	run := uuid.New()
	s.Add(run, saying{err: &plugins.VersionNotLoadedError{Version: 9, Loaded: []int64{1}}}, plugins.Info{})
	_, err := dial(t, ClientConfig{Addr: s.Addr()}, run).Generate(t.Context(), policy.Agent, 9, prompts(1))
	if !errors.Is(err, policy.ErrVersionNotLoaded) {
		t.Errorf("got %v", err)
	}
}

// A worker may hear of a run before the policy worker does, and a policy worker may be started again.
func TestAServerThatComesLaterIsWaitedFor(t *testing.T) {
	s := start(t, ServerConfig{})
	run := uuid.New()
	c := dial(t, ClientConfig{Addr: s.Addr()}, run)
	time.AfterFunc(100*time.Millisecond, func() { s.Add(run, saying{name: "late"}, plugins.Info{}) })
	if got, err := c.Generate(t.Context(), policy.Designer, 0, prompts(1)); err != nil || !strings.HasPrefix(got[0].Text, "late") {
		t.Errorf("a run that was added later: %v, %v", got, err)
	}
	addr := s.Addr()
	stop(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		if got, err := c.Generate(ctx, policy.Designer, 0, prompts(1)); err != nil || !strings.HasPrefix(got[0].Text, "again") {
			t.Errorf("a server that was started again: %v, %v", got, err)
		}
	})
	defer asking.Wait()
	defer cancel() // where no server can be started
	time.Sleep(300 * time.Millisecond)
	start(t, ServerConfig{Listen: addr}).Add(run, saying{name: "again"}, plugins.Info{})
	asking.Wait()
}

// Whether ctx ends between two calls or inside one, the error says who was asked.
func TestWaitingEndsWithTheContext(t *testing.T) {
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	for _, addr := range []string{"127.0.0.1:1", silent.Addr().String()} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := dial(t, ClientConfig{Addr: addr}, uuid.New()).Generate(ctx, policy.Agent, 0, prompts(1))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s: got %v", addr, err)
		}
	}
}

func TestTheTokenIsAsked(t *testing.T) {
	s := start(t, ServerConfig{Token: secret.New("right")})
	run := uuid.New()
	s.Add(run, saying{name: "x"}, plugins.Info{})
	for token, want := range map[string]error{"right": nil, "wrong": ErrRefused, "": ErrRefused, "right ": ErrRefused} {
		c := dial(t, ClientConfig{Addr: s.Addr(), Token: secret.New(token)}, run)
		_, err := c.Generate(t.Context(), policy.Agent, 0, prompts(1))
		if !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("token %q: %v", token, err)
		}
		if err != nil && strings.Contains(err.Error(), "wrong") {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

// write keeps a certificate and its key in files.
func write(t *testing.T, cert tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert"), filepath.Join(dir, "key")
}

func TestTheServerIsHeldToItsCertificate(t *testing.T) {
	ca, stranger := trusttest.NewCA(t), trusttest.NewCA(t)
	certFile, keyFile := write(t, ca.Now(t))
	s := start(t, ServerConfig{CertFile: certFile, KeyFile: keyFile})
	plain := start(t, ServerConfig{})
	run := uuid.New()
	s.Add(run, saying{name: "x"}, plugins.Info{})
	plain.Add(run, saying{name: "x"}, plugins.Info{})
	for name, tc := range map[string]struct {
		cfg  ClientConfig
		want error
	}{
		"its authority":       {ClientConfig{Addr: s.Addr(), CAFile: ca.File}, nil},
		"another authority":   {ClientConfig{Addr: s.Addr(), CAFile: stranger.File}, ErrTLS},
		"plain text to TLS":   {ClientConfig{Addr: s.Addr()}, ErrTLS},
		"TLS to a plain port": {ClientConfig{Addr: plain.Addr(), CAFile: ca.File}, ErrTLS},
	} {
		_, err := dial(t, tc.cfg, run).Generate(t.Context(), policy.Agent, 0, prompts(1))
		if !errors.Is(err, tc.want) || (tc.want == nil) != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAServerThatOthersReachNeedsAToken(t *testing.T) {
	for listen, ok := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true, ":0": false, "0.0.0.0:0": false, "nowhere": false} {
		err := ServerConfig{Listen: listen}.Validate()
		if (err == nil) != ok || (err != nil && !errors.Is(err, ErrConfig)) {
			t.Errorf("%s: %v", listen, err)
		}
		if strings.Contains(listen, ":") {
			if err := (ServerConfig{Listen: listen, Token: secret.New("t")}).Validate(); err != nil {
				t.Errorf("%s with a token: %v", listen, err)
			}
		}
	}
	if err := (ServerConfig{Listen: "127.0.0.1:0", CertFile: "c"}).Validate(); !errors.Is(err, ErrConfig) {
		t.Errorf("a certificate without its key: %v", err)
	}
}

func TestShutdownWithoutStart(t *testing.T) {
	s, err := NewServer(ServerConfig{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	stop(t, s)
}
