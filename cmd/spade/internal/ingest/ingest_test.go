package ingest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/ingest"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestAddTwice(t *testing.T) {
	client := bustest.Open(t).Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.md": "# Sorting\n\nA sort puts things in order.\n", "b.txt": "Water boils at 100 degrees.\n",
		"bad\x1b.jsonl": "{\"text\": 3}\n", "c.gz": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var bar, out bytes.Buffer
	for i, want := range []string{"2 added as 2 chunks, 0 known already", "0 added as 0 chunks, 2 known already"} {
		sum, index, err := ingest.Add(t.Context(), client, []string{dir}, progress.Settings{Out: &bar})
		if err != nil {
			t.Fatal(err)
		}
		if len(index.IDs()) != 2 {
			t.Errorf("round %d: %d documents are known", i, len(index.IDs()))
		}
		out.Reset()
		if err := ingest.WriteSummary(&out, sum); err != nil {
			t.Fatal(err)
		}
		if err := ingest.WriteProblems(&out, sum); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "1 problems") ||
			!strings.Contains(out.String(), "passed over 1 files: .gz") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("round %d:\n%s", i, out.String())
		}
	}
	index, err := ingest.Index(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := errors.Join(ingest.List(&out, index), ingest.ListJSON(&out, index)); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 6 || !strings.HasPrefix(lines[1], "a.md    Sorting") ||
		!strings.Contains(lines[4], `"source":"b.txt"`) {
		t.Errorf("list:\n%s", out.String())
	}
	if !strings.Contains(bar.String(), "(100%)") {
		t.Errorf("bar:\n%s", bar.String())
	}
}
