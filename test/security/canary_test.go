package security

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
)

// canary is a secret that nothing else looks like. It has characters that every encoding changes.
func canary(name string) string { return fmt.Sprintf("canary+%s=%x?", name, len(name)*7919) }

// hunt looks for canaries. Its methods may be called concurrently.
type hunt struct {
	traces map[string][][]byte // name of a secret -> what it looks like

	mu     sync.Mutex // guards the following
	found  []string
	places map[string]int // kind of place -> bytes that were searched
}

func newHunt(names ...string) *hunt {
	h := &hunt{traces: map[string][][]byte{}, places: map[string]int{}}
	for _, n := range names {
		h.traces[n] = traces(canary(n))
	}
	return h
}

// traces are the forms in which a secret may turn up.
func traces(secret string) [][]byte {
	escaped := url.QueryEscape(secret)
	all := [][]byte{
		[]byte(secret), []byte(escaped), []byte(strings.ToLower(escaped)), []byte(url.PathEscape(secret)),
		[]byte(hex.EncodeToString([]byte(secret))), []byte(url.UserPassword("", secret).String()[1:]),
	}
	// In base64 it looks like one of three, by where it begins in what was encoded, and its ends are mixed with what is
	// around it.
	for before := range 3 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + secret + "\x00\x00\x00"))
			all = append(all, []byte(text[before*2:(before+len(secret))/3*4]))
		}
	}
	return all
}

// search looks through one thing at a place of a kind.
func (h *hunt) search(kind, place string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.places[kind] += len(content)
	for name, forms := range h.traces {
		for _, form := range forms {
			if at := bytes.Index(content, form); at >= 0 {
				h.found = append(h.found, fmt.Sprintf("%s in %s: %s: …%q…", name, kind, place, content[max(0, at-60):min(len(content), at+60)]))
				break
			}
		}
	}
}

// folder looks through every file below a folder.
func (h *hunt) folder(t *testing.T, kind, dir string) {
	t.Helper()
	for _, path := range files(t, dir) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h.search(kind, path, content)
		h.search(kind, "name of", []byte(path))
	}
}

// report fails the test with what was found, and when a kind of place was never searched.
func (h *hunt) report(t *testing.T, kinds ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, f := range h.found {
		if i == 20 {
			t.Errorf("and %d more", len(h.found)-i)
			break
		}
		t.Error(f)
	}
	for _, k := range kinds {
		if h.places[k] == 0 {
			t.Errorf("nothing was searched of: %s", k)
		}
	}
	t.Logf("searched, in bytes: %v", h.places)
}

// A search that finds nothing proves nothing unless it finds what is there.
func TestTheHuntFindsWhatIsPlanted(t *testing.T) {
	secret := canary("planted")
	for form, content := range map[string]string{
		"raw":         "a=" + secret + ".",
		"query":       "https://host/?p=" + url.QueryEscape(secret),
		"lower query": strings.ToLower(url.QueryEscape(secret)),
		"userinfo":    (&url.URL{Scheme: "https", User: url.UserPassword("me", secret), Host: "h"}).String(),
		"hex":         hex.EncodeToString([]byte("x" + secret + "y")),
		"basic auth":  base64.StdEncoding.EncodeToString([]byte("u:" + secret)),
		"base64 1":    base64.StdEncoding.EncodeToString([]byte("us:" + secret + "more")),
		"base64 2":    base64.RawURLEncoding.EncodeToString([]byte("use:" + secret)),
	} {
		h := newHunt("planted")
		h.search("test", form, []byte(content))
		if len(h.found) != 1 {
			t.Errorf("%s: %q is not found", form, content)
		}
		h = newHunt("another")
		if h.search("test", form, []byte(content)); len(h.found) != 0 {
			t.Errorf("%s: another secret is found", form)
		}
	}
}
