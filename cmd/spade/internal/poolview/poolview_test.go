package poolview_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/poolview"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// imported is an import whose texts come out of other people's code.
func imported() app.Imported {
	return app.Imported{
		RunID: "c7c9284f-6315-5917-8d7b-676b16a03899", Name: "it's\u202e first", Accepted: 2, Rejected: 3,
		Entries: []app.ImportedEntry{
			{Name: "a:Plain", Accepted: true, Kind: "game", Title: "Plain\x1b[2J", Tier: "python-1"},
			{Name: "a:" + strings.Repeat("Long", 20), Accepted: true, Kind: "tools", Title: "A title that is far too long for a narrow terminal"},
			{Name: "a:Leaky", Stage: "hint_leak", Reason: "the first observation holds the hint", Tier: "python-1"},
			{Name: "b:Raises", Stage: "run", Reason: "Traceback (most recent call last):\n  File x\nValueError: 'no\x07'", Tier: "starlark-1"},
			{Name: "b:Raises too", Stage: "run", Reason: "boom"},
		},
		Absent: slices.Repeat([]app.AbsentEntry{{Name: "Pixels-v1", Reason: "its observations are no\x1b text"}}, 10),
	}
}

func TestText(t *testing.T) {
	for name, set := range map[string]poolview.Settings{
		"pipe":   {Program: "spade", Flags: "--data x"},
		"narrow": {Program: "bin/spade", Columns: 48},
	} {
		var out bytes.Buffer
		if err := poolview.Text(&out, imported(), set); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if set.Columns > 0 && strings.HasPrefix(line, "  a:") && screen.Width(strings.TrimSuffix(line, "\n")) > set.Columns {
				t.Errorf("too wide: %q", line)
			}
		}
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out.String(), want)
		}
	}
}

func TestNothingToPlayMeansNothingNext(t *testing.T) {
	in := imported()
	in.Accepted, in.Entries = 0, in.Entries[2:]
	var out bytes.Buffer
	if err := poolview.Text(&out, in, poolview.Settings{Program: "spade"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "next") || !strings.Contains(out.String(), "0 accepted + 3 rejected") {
		t.Error(out.String())
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := poolview.JSON(&out, imported()); err != nil {
		t.Fatal(err)
	}
	var doc app.Imported
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc.Name != imported().Name || len(doc.Entries) != 5 {
		t.Errorf("%v: %+v", err, doc)
	}
	if strings.Count(out.String(), "\n") != 1 || strings.ContainsAny(out.String(), "\x1b\x07\u202e") {
		t.Errorf("%q", out.String())
	}
}
