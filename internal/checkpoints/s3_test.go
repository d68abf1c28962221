package checkpoints

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/trust"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
)

const (
	testBucket = "states"
	canary     = "canary-secret-key-31"
)

// objects runs an object store with a bucket until the test ends. before, where it is given, sees every request and may
// answer it.
func objects(t *testing.T, before func(http.ResponseWriter, *http.Request) bool) (*httptest.Server, *s3mem.Backend) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(testBucket); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s, backend
}

func openBucket(t *testing.T, location string, s S3) *Bucket {
	t.Helper()
	if s.AccessKey == "" {
		s.AccessKey, s.SecretKey = "AKIA", secret.New(canary)
	}
	if s.Region == "" {
		s.Region = "eu-west-1"
	}
	store, err := Open(location, s)
	if err != nil {
		t.Fatal(err)
	}
	b := store.(*Bucket)
	t.Cleanup(func() { b.transport.CloseIdleConnections() })
	return b
}

func bucketPlace(t *testing.T) place {
	t.Helper()
	server, backend := objects(t, nil)
	// By TLS: in plain text every part carries signatures, which this server keeps as if they were content.
	ca := trusttest.NewCA(t)
	b := openBucket(t, "s3://"+testBucket+"/runs/one/", S3{Endpoint: "https://" + trusttest.Front(t, ca.Now(t), server.Listener.Addr().String())})
	certs, err := trust.Config(ca.File, "")
	if err != nil {
		t.Fatal(err)
	}
	b.transport.TLSClientConfig = certs
	return place{b, func(t *testing.T, sum [sha256.Size]byte, content []byte) {
		t.Helper()
		meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
		_, err := backend.PutObject(testBucket, b.key(sum[:]), meta, bytes.NewReader(content), int64(len(content)), nil)
		if err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T) []string {
		t.Helper()
		list, err := backend.ListBucket(testBucket, nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, o := range list.Contents {
			if !strings.HasPrefix(o.Key, "runs/one/") {
				t.Errorf("%s lies outside of the prefix", o.Key)
			}
			all = append(all, o.Key)
		}
		return all
	}}
}

// TestAnAnswerThatWillBeTheSameIsNotAskedForAgain: every failure has its class, names the setting to change, and comes at once.
func TestAnAnswerThatWillBeTheSameIsNotAskedForAgain(t *testing.T) {
	refuse := func(status int, code string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
			return true
		}
	}
	open, _ := objects(t, nil)
	denied, _ := objects(t, refuse(http.StatusForbidden, "AccessDenied"))
	unknown, _ := objects(t, refuse(http.StatusForbidden, "InvalidAccessKeyId"))
	elsewhere, _ := objects(t, refuse(http.StatusMovedPermanently, "PermanentRedirect"))
	ca := trusttest.NewCA(t)
	front := "https://" + trusttest.Front(t, ca.Now(t), open.Listener.Addr().String())
	for name, tc := range map[string]struct {
		location, endpoint string
		want               error
		remedy             string
	}{
		"no such bucket":      {"s3://nobodys/x", open.URL, ErrLocation, "create it"},
		"access denied":       {"s3://" + testBucket, denied.URL, ErrDenied, "s3.secret_key"},
		"unknown key":         {"s3://" + testBucket, unknown.URL, ErrDenied, "s3.access_key"},
		"another region":      {"s3://" + testBucket, elsewhere.URL, ErrLocation, "s3.region"},
		"unknown authority":   {"s3://" + testBucket, front, trust.ErrUnknownCA, "authority"},
		"TLS to a plain port": {"s3://" + testBucket, "https://" + open.Listener.Addr().String(), trust.ErrPlainServer, "s3.endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBucket(t, tc.location, S3{Endpoint: tc.endpoint, RetryFor: time.Hour})
			state, sum := randomState(10)
			_, save := b.Save(t.Context(), sum, state)
			_, load := b.Load(t.Context(), sum[:], int64(len(state)))
			for what, err := range map[string]error{"save": save, "load": load} {
				if what == "load" && tc.want == ErrLocation && errors.Is(err, ErrMissing) {
					continue // a HEAD brings no reason: that the bucket is missing is not told
				}
				if !errors.Is(err, tc.want) && what == "save" || err == nil || strings.Contains(err.Error(), canary) {
					t.Errorf("%s: %v", what, err)
				}
				if what == "save" && !strings.Contains(err.Error(), tc.remedy) {
					t.Errorf("%s does not say what to do: %v", what, err)
				}
			}
		})
	}
}

func TestAStoreThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	server, _ := objects(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch n := asked.Add(1); {
		case n%8 >= 4:
			return false
		case n%2 == 0:
			panic(http.ErrAbortHandler) // cuts the connection
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
		return true
	})
	b := openBucket(t, "s3://"+testBucket, S3{Endpoint: server.URL, RetryFor: time.Minute})
	state, sum := randomState(1000)
	if _, err := b.Save(t.Context(), sum, state); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Load(t.Context(), sum[:], int64(len(state))); err != nil || !bytes.Equal(got, state) {
		t.Errorf("%v", err)
	}
	if asked.Load() < 6 {
		t.Errorf("%d requests", asked.Load())
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b := openBucket(t, "s3://"+testBucket, S3{Endpoint: "http://" + l.Addr().String(), RetryFor: 300 * time.Millisecond})
	state, sum := randomState(10)
	if _, err := b.Save(t.Context(), sum, state); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "s3.endpoint") {
		t.Errorf("save: %v", err)
	}
	if _, err := b.Load(t.Context(), sum[:], int64(len(state))); !errors.Is(err, ErrUnavailable) {
		t.Errorf("load: %v", err)
	}
}

// drain takes an upload apart by its bytes only, so that the test's memory is the client's.
func drain(t *testing.T, bytesIn *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			_, _ = fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPost:
			_, _ = fmt.Fprint(w, "<CompleteMultipartUploadResult><Bucket>b</Bucket><ETag>e</ETag></CompleteMultipartUploadResult>")
		case r.Method == http.MethodPut:
			buf := make([]byte, 64<<10)
			for {
				n, err := r.Body.Read(buf)
				bytesIn.Add(int64(n))
				if err != nil {
					break
				}
			}
			w.Header().Set("ETag", `"e"`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// A state of 128 MiB is sent in parts that are cut out of it: what is allocated for it meanwhile is less than two parts.
func TestALargeStateIsSentWithoutACopy(t *testing.T) {
	var in atomic.Int64
	server := drain(t, &in)
	b := openBucket(t, "s3://"+testBucket, S3{Endpoint: server.URL})
	state, sum := randomState(128 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := b.Save(t.Context(), sum, state); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 2*partBytes || in.Load() < int64(len(state)) {
		t.Errorf("%d MiB were allocated to send %d MiB", took>>20, in.Load()>>20)
	}
}

func TestKeysComeInPairs(t *testing.T) {
	for _, s := range []S3{
		{AccessKey: "a"}, {SecretKey: secret.New(canary)}, {Endpoint: "localhost:9000"}, {Endpoint: "http://me:" + canary + "@host"}, {Endpoint: "http://host/path"},
	} {
		if _, err := Open("s3://"+testBucket, s); !errors.Is(err, ErrLocation) || strings.Contains(err.Error(), canary) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
