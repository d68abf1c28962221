// Package qdrant_test runs Qdrant's JavaScript client, which nobody here wrote,
// against the embedded vector server.
package qdrant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/secret"
)

const install = "npm ci --prefix test/clients/qdrant"

// needClient skips where the run does not ask for other people's clients; where
// it does, a missing install is a failure that says how to mend it.
func needClient(t *testing.T) string {
	t.Helper()
	if os.Getenv("SPADE_TEST_CLIENTS") != "1" {
		t.Skip("set SPADE_TEST_CLIENTS=1 to run other people's clients; install them with: " + install)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node is not installed: %v", err)
	}
	if _, err := os.Stat("node_modules/@qdrant/js-client-grpc"); err != nil {
		t.Fatalf("the client is not installed (%v); run: %s", err, install)
	}
	return node
}

func TestJavaScriptClient(t *testing.T) {
	node := needClient(t)
	const key = "canary-key-4410"
	cfg := qdrant.NewDefaultConfig()
	cfg.Dir, cfg.APIKey = t.TempDir(), secret.New(key)
	s, err := qdrant.New(cfg, qdrant.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "client.js", "http://"+s.Addr())
	cmd.Env = append(os.Environ(), "QDRANT_API_KEY="+key)
	var out, warned bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &warned
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, warned.String())
	}
	if strings.Contains(warned.String(), "incompatible") || strings.Contains(warned.String(), "Unable to check") {
		t.Errorf("the client found the version unsuitable: %s", warned.String())
	}
	judge(t, out.Bytes())
}

func judge(t *testing.T, out []byte) {
	t.Helper()
	var got struct {
		Version     string
		Status      int
		Collections []string
		Hits        [][]any
		Pages       [][]int
		Refused     string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Version == "" || got.Status != 2 {
		t.Errorf("version %q, write status %d, want Completed (2)", got.Version, got.Status)
	}
	if !reflect.DeepEqual(got.Collections, []string{"from-javascript"}) {
		t.Errorf("collections %v", got.Collections)
	}
	if want := [][]int{{1, 2}, {3, 4}, {5}}; !reflect.DeepEqual(got.Pages, want) {
		t.Errorf("pages %v, want %v", got.Pages, want)
	}
	if len(got.Hits) != 2 || got.Hits[0][0] != 1.0 || got.Hits[1][0] != 2.0 || got.Hits[1][2] != "a" {
		t.Fatalf("hits %v", got.Hits)
	}
	if score, _ := got.Hits[1][1].(float64); math.Abs(score-0.9/math.Hypot(0.9, 0.1)) > 1e-6 {
		t.Errorf("score %v", got.Hits[1][1])
	}
	if !strings.Contains(got.Refused, "expected dim: 3, got 2") {
		t.Errorf("a short vector gave %q", got.Refused)
	}
}
