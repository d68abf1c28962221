package pools

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
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
		"b.star": "b", "a/one.py": "one", "a/two.star": "two", "notes.txt": "no", ".hidden/x.py": "no", ".x.star": "no",
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

func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"big/a.py": strings.Repeat("#", gym.MaxCode+1), "empty/notes.txt": "", "one.txt": "",
	})
	for _, path := range []string{"nowhere", "big", "empty", "one.txt"} {
		if got, err := List(t.Context(), nil, Spec{Path: filepath.Join(dir, path)}); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}
