package embedding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "canary-5512"

func endpoint(t *testing.T, handler http.HandlerFunc) *Endpoint {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	e, err := NewEndpoint(EndpointConfig{URL: s.URL + "/v1", Key: secret.New(canary), Model: "m", Dim: 3, Batch: 2, Tries: 3})
	if err != nil {
		t.Fatal(err)
	}
	e.first, e.client = time.Millisecond, s.Client()
	return e
}

// answer writes the vectors of a request in reverse order, as an endpoint may.
func answer(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	var req struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.Model != "m" || len(req.Input) > 2 {
		t.Errorf("request %v, %v", req, err)
	}
	if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer "+canary {
		t.Errorf("%s with %q", r.URL.Path, r.Header.Get("Authorization"))
	}
	var data []map[string]any
	for i, text := range slices.Backward(req.Input) {
		data = append(data, map[string]any{"index": i, "embedding": []int{len(text), 0, 0}})
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
		t.Error(err)
	}
}

func TestEndpointBatchesAndKeepsOrder(t *testing.T) {
	var requests atomic.Int32
	e := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		answer(t, w, r)
	})
	got, err := e.Embed(context.Background(), []string{"a", "bb", "ccc", "dddd", "eeeee"}, Code)
	if err != nil || len(got) != 5 || requests.Load() != 3 {
		t.Fatalf("%v, %v after %d requests", got, err, requests.Load())
	}
	for _, v := range got {
		if !slices.Equal(v, []float32{1, 0, 0}) {
			t.Errorf("got %v", v)
		}
	}
}

func TestEndpointTriesAgainWhenBusy(t *testing.T) {
	var requests atomic.Int32
	e := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			http.Error(w, "busy", http.StatusTooManyRequests)
		case 2:
			http.Error(w, "bad gateway", http.StatusBadGateway)
		default:
			answer(t, w, r)
		}
	})
	if _, err := e.Embed(context.Background(), []string{"a"}, Document); err != nil || requests.Load() != 3 {
		t.Fatalf("%v after %d requests", err, requests.Load())
	}
}

func TestEndpointErrors(t *testing.T) {
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		class   error
		text    string
	}{
		"always busy": {say(503, "no"), ErrEndpointUnavailable, "503"},
		"refused":     {say(401, `{"error":{"message":"bad key `+canary+`"}}`), ErrEndpointRefused, "bad key ***"},
		"no json":     {say(200, "<html>"), ErrEndpointAnswer, "invalid character"},
		"too few":     {say(200, `{"data":[]}`), ErrEndpointAnswer, "0 vectors for 1"},
		"wrong size":  {say(200, `{"data":[{"index":0,"embedding":[1,2]}]}`), ErrEndpointAnswer, "a vector of 2 where 3"},
		"index":       {say(200, `{"data":[{"index":7,"embedding":[1,2,3]}]}`), ErrEndpointAnswer, "index 7"},
		"zero":        {say(200, `{"data":[{"index":0,"embedding":[0,0,0]}]}`), ErrEndpointAnswer, "length 0"},
		"control":     {say(400, "\x1b[31mred"), ErrEndpointRefused, `\x1b[31mred`},
	} {
		_, err := endpoint(t, c.handler).Embed(context.Background(), []string{"x"}, Code)
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndpointStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		http.Error(w, "busy", http.StatusServiceUnavailable)
	})
	e.first = time.Hour
	if _, err := e.Embed(ctx, []string{"x"}, Code); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestEndpointConfig(t *testing.T) {
	_, err := NewEndpoint(EndpointConfig{URL: "ftp://user:" + canary + "@x"})
	for _, want := range []string{"http or https", "no model", "0 dimensions"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Error("the password is in the error")
	}
	e, err := NewEndpoint(EndpointConfig{URL: "http://u:" + canary + "@127.0.0.1:1/v1/embeddings", Model: "m", Dim: 1, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Embed(context.Background(), []string{"x"}, Code)
	if !errors.Is(err, ErrEndpointUnavailable) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "/v1") {
		t.Errorf("got %v", err)
	}
	var unknown *UnknownKindError
	if _, err := e.Embed(context.Background(), nil, "x"); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}
