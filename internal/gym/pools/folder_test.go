package pools

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"b.star": "b", "UP.PY": "up", "a/one.py": "one", "a/two.star": "two", "notes.txt": "no", ".hidden/x.py": "no", ".x.star": "no",
		"__pycache__/y.py": "no",
	})
	secret := filepath.Join(t.TempDir(), "secret.py")
	write(t, filepath.Dir(secret), map[string]string{"secret.py": "secret"})
	if err := os.Symlink(secret, filepath.Join(dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	got, err := List(t.Context(), nil, Spec{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Name: "UP.PY", Source: gym.Source{Runtime: gym.RuntimePython, Code: "up"}, SeedTo: math.MaxUint64},
		{Name: "a/one.py", Source: gym.Source{Runtime: gym.RuntimePython, Code: "one"}, SeedTo: math.MaxUint64},
		{Name: "a/two.star", Source: gym.Source{Runtime: gym.RuntimeStarlark, Code: "two"}, SeedTo: math.MaxUint64},
		{Name: "b.star", Source: gym.Source{Runtime: gym.RuntimeStarlark, Code: "b"}, SeedTo: math.MaxUint64},
	}
	if len(got) != len(want) {
		t.Fatalf("%d entries: %+v", len(got), got)
	}
	for i, e := range want {
		if got[i] != e {
			t.Errorf("entry %d: %+v, want %+v", i, got[i], e)
		}
	}
}

// What looks like a source and is none is told; it keeps nothing else out.
func TestFolderTellsWhatItLeavesOut(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{
		"good.py": "good", ".hidden.py": "no", "big.py": strings.Repeat("#", gym.MaxCode+1), "bad\xff.py": "no", "notes.txt": "",
		".git/x.py": "no",
	})
	for _, name := range []string{"link.py", "linked"} {
		if err := os.Symlink(elsewhere, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.star"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := List(t.Context(), nil, Spec{Path: dir})
	if err != nil || len(all) != 1 || all[0].Name != "good.py" {
		t.Errorf("%+v, %v", all, err)
	}
	left, err := Missing(t.Context(), nil, Spec{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		".hidden.py": "dot", "big.py": "more than the 262144 bytes", "bad\uFFFD.py": "UTF-8", "link.py": "link", "linked": "link",
		"pipe.star": "no regular file",
	}
	for _, a := range left {
		if want[a.Name] == "" || !strings.Contains(a.Reason, want[a.Name]) {
			t.Errorf("%+v", a)
		}
		delete(want, a.Name)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	if err := os.Remove(filepath.Join(dir, "good.py")); err != nil {
		t.Fatal(err)
	}
	if _, err := List(t.Context(), nil, Spec{Path: dir}); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "begins with a dot") {
		t.Errorf("a folder with nothing else: %v", err)
	}
}

func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"big/a.py": strings.Repeat("#", gym.MaxCode+1), "empty/notes.txt": "", "one.txt": "",
	})
	for _, path := range []string{"nowhere", "big", "empty", "one.txt"} {
		if got, err := List(t.Context(), nil, Spec{Path: filepath.Join(dir, path)}); !errors.Is(err, ErrSpec) || strings.Contains(err.Error(), ErrSpec.Error()) {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

// A package set is for the Python sources of a path, and for nothing else.
func TestFolderWithAPackageSet(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"lake.py": "", "plain.star": ""})
	got, err := List(t.Context(), nil, Spec{Path: dir, Package: "gymnasium"})
	if err != nil || len(got) != 2 || got[0].Source.Package != "gymnasium" || got[1].Source.Package != "" || got[0].Package != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := List(t.Context(), nil, Spec{Path: filepath.Join(dir, "plain.star"), Package: "gymnasium"}); !errors.Is(err, ErrSpec) {
		t.Errorf("no Python: %+v, %v", got, err)
	}
}
