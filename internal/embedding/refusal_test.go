package embedding

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// picky refuses what the function says with a status, and answers the rest.
func picky(t *testing.T, status int, refuses func(body string) bool) *Endpoint {
	t.Helper()
	return endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if refuses(string(body)) {
			http.Error(w, "no", status)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(t, w, r)
	})
}

// TestEndpointThatRefusesEverythingRefusesNoText: what is a text's fault gets a vector of zeros for ever, so an endpoint that
// takes nothing must not look like one that refuses a text.
func TestEndpointThatRefusesEverythingRefusesNoText(t *testing.T) {
	for _, status := range []int{400, 413, 422} {
		_, err := picky(t, status, func(string) bool { return true }).Embed(t.Context(), []string{"x"}, Document)
		if !errors.Is(err, ErrEndpointRefused) || errors.Is(err, ErrTextRefused) {
			t.Errorf("it refuses everything with %d: %v", status, err)
		}
		_, err = picky(t, status, func(body string) bool { return strings.Contains(body, "long") }).Embed(t.Context(), []string{"x", "long"}, Document)
		if !errors.Is(err, ErrTextRefused) {
			t.Errorf("it refuses one text with %d: %v", status, err)
		}
	}
}

// TestEndpointIsAskedOnceMore: one that was configured wrongly for a moment refuses no text.
func TestEndpointIsAskedOnceMore(t *testing.T) {
	var requests atomic.Int32
	e := picky(t, 400, func(string) bool { return requests.Add(1) == 1 })
	got, err := e.Embed(t.Context(), []string{"x", "yy"}, Document)
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}
