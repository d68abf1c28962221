package child

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Ids of the database and of what is in it.
const (
	dbID    = "10000000-0000-4000-8000-000000000000"
	stepsID = "20000000-0000-4000-8000-000000000000"
	runsID  = "30000000-0000-4000-8000-000000000000"
)

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	steps = "store/100/" + dbID + "/steps.sql"
	runs  = "store/100/" + dbID + "/runs.sql"
	view  = "store/100/" + dbID + "/view.sql"
)

// newFolder is a folder of two tables and a view; of the tables steps has data.
func newFolder(t *testing.T) definitions {
	t.Helper()
	d := newDefinitions(layout{data: filepath.Join(t.TempDir(), "data")})
	lay(t, d.data, map[string]string{
		"metadata/spade.sql": "ATTACH DATABASE _ UUID '" + dbID + "'\nENGINE = Atomic", steps: "ATTACH TABLE _ UUID '" + stepsID + "'\n(a)",
		runs: "ATTACH TABLE _ UUID '" + runsID + "'\n(a)", view: "ATTACH VIEW _ UUID '40000000-0000-4000-8000-000000000000'",
		"store/200/" + stepsID + "/all_1_1_0/data.bin": "x", "store/300/" + runsID + "/deduplication_logs/log": "x",
		"store/300/" + runsID + "/detached/old/data.bin": "x",
	})
	return d
}

func (d definitions) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.data, filepath.FromSlash(name)))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestDefinitionsOfNothingAreDropped: what was to be made and was not is made again.
func TestDefinitionsOfNothingAreDropped(t *testing.T) {
	d := newFolder(t)
	lay(t, d.data, map[string]string{"metadata/half.sql": "", runs: ""})
	m, err := d.mend()
	if want := []string{"metadata/half.sql", runs}; err != nil || !slices.Equal(m.dropped, want) || len(m.restored) > 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, name := range m.dropped {
		if _, err := os.Stat(filepath.Join(d.data, filepath.FromSlash(name))); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d.read(t, steps) == "" || d.read(t, "store/300/"+runsID+"/detached/old/data.bin") == "" {
		t.Error("more was dropped")
	}
}

// TestDefinitionsOfDataAreRestored: a table that was altered on a full disk is there with its data.
func TestDefinitionsOfDataAreRestored(t *testing.T) {
	d := newFolder(t)
	want := map[string]string{steps: d.read(t, steps), view: d.read(t, view), "metadata/spade.sql": d.read(t, "metadata/spade.sql")}
	for range 2 {
		if err := d.keep(); err != nil {
			t.Fatal(err)
		}
	}
	for name := range want {
		lay(t, d.data, map[string]string{name: ""})
	}
	m, err := d.mend()
	if err != nil || len(m.dropped) > 0 || len(m.restored) != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, text := range want {
		if got := d.read(t, name); got != text {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestDataWithoutADefinitionIsRefused: an empty table in its place would hide that rows are lost. A copy of the definition
// that a table of this name had before is none of this one's.
func TestDataWithoutADefinitionIsRefused(t *testing.T) {
	for _, before := range []string{"", "30000000-0000-4000-8000-000000000009", runsID} {
		d := newFolder(t)
		if before != "" {
			lay(t, d.copies, map[string]string{steps: "ATTACH TABLE _ UUID '" + before + "'\n(a)"})
		}
		lay(t, d.data, map[string]string{steps: ""})
		m, err := d.mend()
		if !errors.Is(err, errNoDefinition) || !strings.Contains(err.Error(), steps) || !strings.Contains(err.Error(), stepsID) {
			t.Errorf("copy %q: %+v, %v", before, m, err)
		}
		if d.read(t, steps) != "" {
			t.Error("the definition is another's")
		}
	}
}

// TestCopiesOfWhatIsGoneAreForgotten: a dropped table's copy is no later one's.
func TestCopiesOfWhatIsGoneAreForgotten(t *testing.T) {
	d := newFolder(t)
	if err := d.keep(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(d.data, filepath.FromSlash(runs))); err != nil {
		t.Fatal(err)
	}
	lay(t, d.data, map[string]string{steps: ""})
	if err := d.keep(); err != nil {
		t.Fatal(err)
	}
	names, err := definitionsIn(d.copies)
	if err != nil || slices.Contains(names, runs) || !slices.Contains(names, steps) {
		t.Errorf("%v, %v", names, err)
	}
	text, err := os.ReadFile(filepath.Join(d.copies, filepath.FromSlash(steps)))
	if err != nil || len(text) == 0 {
		t.Errorf("the copy is %q, %v", text, err)
	}
}
