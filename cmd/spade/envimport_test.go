package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

// poolFolder holds one environment that passes the gate, under a name that would clear a terminal, and one that does not.
func poolFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.MkdirAll(filepath.Join(dir, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]string{"say\x1b[2J.star": guess, "deep/broken.star": "def reset(", "README.md": "no source"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEnvImportDryRun(t *testing.T) {
	dir := poolFolder(t)
	r := spade(t, nil, "env", "import", dir, "--dry-run")
	if r.code != exitOK || !strings.Contains(r.stderr, "nothing was written") {
		t.Errorf("%+v", r)
	}
	golden(t, testdata("env-import-dry-run.golden"), r.out)
	r = spade(t, nil, "env", "import", dir, "--dry-run", "--json")
	var out app.Imported
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	if out.Accepted != 1 || out.Rejected != 1 || out.RunID != "" || out.Name != "mine" || strings.Contains(r.out, "\x1b") ||
		out.Entries[0].Stage != "parse" || out.Entries[1].Tier == "" {
		t.Errorf("%+v", out)
	}
}

func TestEnvImport(t *testing.T) {
	environ, data := environment(t)
	dir := poolFolder(t)
	r := spade(t, environ, "env", "import", dir, "--data", data)
	if r.code != exitOK || !strings.Contains(r.out, "1 accepted + 1 rejected = 2") || !strings.Contains(r.out, "--designer fixed:mine") {
		t.Fatalf("%+v", r)
	}
	again := spade(t, environ, "env", "import", dir, "--data", data)
	if again.code != exitOK || again.out != r.out || !strings.Contains(again.stderr, "nothing was written") {
		t.Errorf("once more: %+v, before %s", again, r.out)
	}
	if r := spade(t, environ, "runs", "--data", data); !strings.Contains(r.out, "mine  pool  finished") || !strings.Contains(r.out, "1/2") {
		t.Errorf("runs: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(dir, "deep", "broken.star"), []byte("x = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := spade(t, environ, "env", "import", dir, "--data", data)
	if changed.code != exitFailure || !strings.Contains(changed.stderr, "another content of deep/broken.star (its source)") ||
		!strings.Contains(changed.stderr, "next: ask for the same as before") {
		t.Errorf("changed: %+v", changed)
	}
}

func TestEnvImportNamesItsPool(t *testing.T) {
	for want, specs := range map[string][]string{
		"gymnasium:FrozenLake-v1": {"gymnasium:FrozenLake-v1"},
		"gymnasium":               {"gymnasium:*"},
		"suites+puzzle":           {"../../examples/suites/", "./puzzle.py"},
	} {
		var in importing
		if err := in.parse(specs); err != nil || in.Name != want {
			t.Errorf("%v: %q, %v", specs, in.Name, err)
		}
	}
	var in importing
	long := make([]string, 40)
	for i := range long {
		long[i] = "gymnasium:FrozenLake-v1"
	}
	if err := in.parse(long); err != nil || !strings.HasPrefix(in.Name, "gymnasium:FrozenLake-v1 and 39 more ") {
		t.Errorf("%q, %v", in.Name, err)
	}
}

func TestEnvImportSaysWhatIsWrong(t *testing.T) {
	environ := []string{"SPADE_CACHE=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, exitUsage, "SPEC is missing"},
		{[]string{"nowhere:x"}, exitUsage, "is none of " + strings.Join(pools.Names(), ", ")},
		{[]string{"gymnasium"}, exitUsage, "gymnasium:* for all"},
		{[]string{"none/there"}, exitFailure, "no file or folder"},
		{[]string{".", "--name", "a\x1bb"}, exitUsage, "cannot be printed"},
		{[]string{"gymnasium:FrozenLake-v1"}, exitFailure, "spade env install gymnasium"},
		{[]string{"gymnasium:FrozenLake-v1", "--package", "gymnasium"}, exitUsage, "--package is for a folder or file"},
		{[]string{poolFolder(t), "--package", "nosuch"}, exitFailure, `"nosuch" is none of the package sets gymnasium`},
	} {
		r := spade(t, environ, append([]string{"env", "import", "--dry-run"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "\x1b") {
			t.Errorf("%q: %+v", c.args, r)
		}
	}
}

// A dry run keeps nothing that could be taken up.
func TestAnInterruptedImportSaysWhatTheSameCommandDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	for dry, want := range map[bool]string{true: "keeps nothing", false: "takes the import up"} {
		var next *nextError
		err := resumableImport(cmd, importing{dryRun: dry}, context.Canceled)
		if !errors.As(err, &next) || !strings.Contains(next.next, want) {
			t.Errorf("dry run %v: %+v", dry, err)
		}
	}
}

// A source that imports a package set is imported with it. The set is part of what the pool is, and of the event.
func TestEnvImportWithAPackageSet(t *testing.T) {
	environ, data := environment(t)
	dir := t.TempDir()
	site, path := filepath.Join(dir, "site-packages"), filepath.Join(dir, "own.py")
	if err := os.MkdirAll(site, 0o755); err != nil { //nolint:gosec // a worker may run as another user
		t.Fatal(err)
	}
	for name, code := range map[string]string{filepath.Join(site, "sayings.py"): "SAID = \"Said.\"\n", path: "import sayings\n" + guess} {
		if err := os.WriteFile(name, []byte(code), 0o644); err != nil { //nolint:gosec // likewise
			t.Fatal(err)
		}
	}
	command := []string{"env", "import", path, "--data", data, "--sandbox", "limits", "--python-packages", "mine=" + site}
	r := spade(t, environ, append(command, "--dry-run")...)
	if r.code != exitOK || !strings.Contains(r.out, "0 accepted") || !strings.Contains(r.out, "--package NAME brings") {
		t.Errorf("without: %+v", r)
	}
	command = append(command, "--package", "mine")
	if r := spade(t, environ, command...); r.code != exitOK || !strings.Contains(r.out, "1 accepted + 0 rejected") {
		t.Fatalf("with: %+v", r)
	}
	if r := spade(t, environ, "events", "cat", "environments", "--data", data, "--json"); !strings.Contains(r.out, `"mine"`) {
		t.Errorf("the event: %+v", r)
	}
	if r := spade(t, environ, command[:len(command)-2]...); r.code != exitFailure || !strings.Contains(r.stderr, `package "mine", asked for ""`) {
		t.Errorf("then without: %+v", r)
	}
}
