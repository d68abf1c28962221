package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/secret"
)

const canary = "canary-5f1d"

func TestNothingPrintsTheValue(t *testing.T) {
	type holder struct {
		Exported secret.Text
		hidden   secret.Text
	}
	s := secret.New(canary)
	h := holder{Exported: s, hidden: s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		fmt.Fprintf(&out, verb+" ", s)
		fmt.Fprintf(&out, verb+" ", &s)
		fmt.Fprintf(&out, verb+" ", h)
		fmt.Fprintf(&out, verb+"\n", []secret.Text{s})
	}
	doc, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(doc)
	slog.New(slog.NewTextHandler(&out, nil)).Info("start", "password", s, "all", h)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("start", "password", s, "all", h)
	if strings.Contains(out.String(), canary) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Fatalf("the secret was printed:\n%s", out.String())
	}
}

func TestRevealAndUnmarshal(t *testing.T) {
	var s secret.Text
	if err := json.Unmarshal([]byte(`"`+canary+`"`), &s); err != nil {
		t.Fatal(err)
	}
	if s.Reveal() != canary || s.IsZero() {
		t.Fatalf("got %q", s.Reveal())
	}
	if empty := secret.New(""); !empty.IsZero() || empty.String() != "" || empty.Reveal() != "" {
		t.Fatal("an empty secret is not empty")
	}
}
