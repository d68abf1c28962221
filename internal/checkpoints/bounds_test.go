package checkpoints

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestAStateOfAnotherSizeIsNotRead: what the log says bounds what is loaded.
func TestAStateOfAnotherSizeIsNotRead(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		state, sum := randomState(1000)
		if _, err := p.Save(t.Context(), sum, state); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{-1, 0, 999, 1001, 1 << 40} {
			if _, err := p.Load(t.Context(), sum[:], size); !errors.Is(err, ErrCorrupt) {
				t.Errorf("as %d bytes: %v", size, err)
			}
		}
	})
}

// TestAConnectionThatCarriesNothingIsGivenUp: the request is made anew, whether its state is on the way out or in.
func TestAConnectionThatCarriesNothingIsGivenUp(t *testing.T) {
	var held atomic.Int32
	end := make(chan struct{})
	server, _ := objects(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead || r.URL.Query().Has("location") || held.Add(1)%2 == 0 {
			return false
		}
		if r.Method == http.MethodGet { // half an answer
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(make([]byte, 500))
			_ = http.NewResponseController(w).Flush()
		}
		<-end
		return true
	})
	defer close(end)
	b := openBucket(t, "s3://"+testBucket, S3{Endpoint: server.URL, RetryFor: time.Minute})
	b.transport.DialContext = impatient((&net.Dialer{}).DialContext, 200*time.Millisecond)
	state, sum := randomState(1000)
	if _, err := b.Save(t.Context(), sum, state); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Load(t.Context(), sum[:], 1000); err != nil || !bytes.Equal(got, state) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if held.Load() < 4 {
		t.Errorf("%d requests: nothing was held", held.Load())
	}
}

// TestWhatKilledProcessesWroteIsSwept: old parts go, whole states, fresh parts and others' files stay.
func TestWhatKilledProcessesWroteIsSwept(t *testing.T) {
	dir := t.TempDir()
	_, sum := randomState(1)
	name := filepath.Base((&Folder{dir: dir}).path(sum[:]))
	old := time.Now().Add(-abandoned - time.Hour)
	for file, at := range map[string]time.Time{
		"." + name + "-1": old, "." + name + "-2": time.Now(), name: old, ".hidden-file": old, ".other": old,
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, S3{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"." + name + "-2", name, ".hidden-file", ".other"}
	slices.Sort(want)
	if !slices.Equal(left, want) || len(name) != 2*sha256.Size {
		t.Errorf("left %q, want %q", left, want)
	}
}
