package inspect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/inspect"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/ids"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

func TestShow(t *testing.T) {
	_, conn := olaptest.Start(t)
	install(t, conn)
	for kind, id := range map[string]string{
		"run": "first", "environment": env.String(), "refused": refused.String(), "rollout": hinted.String(), "document": document.String(),
	} {
		subject, err := inspect.Find(t.Context(), conn, id)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(kind, "refused", "environment", 1); subject.Kind != want {
			t.Errorf("%s is a %s", id, subject.Kind)
		}
		var out bytes.Buffer
		if err := inspect.Show(t.Context(), conn, subject, inspect.Output{Out: &out}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07") {
			t.Errorf("%s: control characters reach the terminal", kind)
		}
		golden(t, "testdata/"+kind+".golden", out.String())
		out.Reset()
		if err := inspect.Show(t.Context(), conn, subject, inspect.Output{Out: &out, JSON: true}); err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc["kind"] != subject.Kind {
			t.Errorf("%s: %v, %v", kind, doc["kind"], err)
		}
	}
	for _, id := range []string{"second", ids.Run("second").String(), "'; DROP TABLE spade.runs"} {
		if _, err := inspect.Find(t.Context(), conn, id); !errors.Is(err, inspect.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestARunOnAPoolHasTheRuntimesOfWhatItDrew: the setting is that of a designer, and there was none.
func TestARunOnAPoolHasTheRuntimesOfWhatItDrew(t *testing.T) {
	_, conn := olaptest.Start(t)
	install(t, conn)
	var out bytes.Buffer
	if err := inspect.Show(t.Context(), conn, inspect.Subject{Kind: "run", ID: onPool}, inspect.Output{Out: &out}); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "starlark") || !strings.Contains(s, "fixed:gymnasium") || !strings.Contains(s, "Taxi-v3") || !strings.Contains(s, "python") {
		t.Error(s)
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs, got:\n%s\nwant:\n%s", path, got, want)
	}
}
