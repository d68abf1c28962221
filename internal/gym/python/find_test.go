package python

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// python finds the interpreter of the tests, once for each.
func python(t testing.TB) Interpreter {
	t.Helper()
	found, err := Find(context.Background(), "python3")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFind(t *testing.T) {
	found := python(t)
	if !filepath.IsAbs(found.Path) || !strings.HasPrefix(found.Version, "3.") || found.Prefix == "" {
		t.Errorf("found %+v", found)
	}
	if real, err := filepath.EvalSymlinks(found.Path); err != nil || real != found.Path {
		t.Errorf("%s is behind a link: %s, %v", found.Path, real, err)
	}
	if !slices.ContainsFunc(found.Mounts, func(m Mount) bool { return m.At == found.Path && !m.Dir }) {
		t.Errorf("the binary is not among the mounts")
	}
	for i, m := range found.Mounts {
		info, err := os.Lstat(m.From)
		if err != nil || info.IsDir() != m.Dir || info.Mode()&os.ModeSymlink != 0 {
			t.Errorf("%+v: %v", m, err)
		}
		if i > 0 && found.Mounts[i-1].At >= m.At {
			t.Errorf("%s is not in order", m.At)
		}
	}
}

// A virtual environment and a script that runs an interpreter both lead to the binary behind them.
func TestFindBehind(t *testing.T) {
	found := python(t)
	dir := t.TempDir()
	venv := filepath.Join(dir, "venv")
	if out, err := exec.Command(found.Path, "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shim := filepath.Join(dir, "shim")
	if err := os.WriteFile(shim, []byte("#!/bin/sh\nexec '"+found.Path+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(venv, "bin", "python3"), shim} {
		got, err := Find(t.Context(), name)
		if err != nil || got.Path != found.Path || !slices.Equal(got.Mounts, found.Mounts) {
			t.Errorf("%s leads to %s, %v; want %s", name, got.Path, err, found.Path)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	dir := t.TempDir()
	answers := map[string]string{
		"old":   `{"version": [3, 9, 18], "implementation": "cpython"}`,
		"other": `{"version": [3, 11, 0], "implementation": "pypy", "path": "/x"}`,
		"mute":  ``,
	}
	for name, says := range answers {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ncat <<'X'\n"+says+"\nX\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "fails"), []byte("#!/bin/sh\necho not installed >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"old": "is Python 3.9.18; install 3.10", "other": "only CPython", "mute": "no Python does", "fails": "not installed", "absent": "install Python 3.10",
	} {
		_, err := Find(t.Context(), filepath.Join(dir, name))
		if !errors.Is(err, ErrNoPython) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The mounts are enough: every module of the standard library that works here loads from them alone.
func TestMountsHoldTheLibraries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the loader of this system is another one")
	}
	found := python(t)
	const loaded = `
import os, pkgutil, sys
for m in sorted({m.name for m in pkgutil.iter_modules() if m.name.startswith("_") and m.name not in ("_tkinter", "__main__")} | {"zlib", "math"}):
    try:
        __import__(m)
    except ImportError:
        pass
print("\n".join(sorted({l.split(maxsplit=5)[5].strip() for l in open("/proc/self/maps") if ".so" in l and l.split(maxsplit=5)[5].startswith("/")})))`
	out, err := exec.Command(found.Path, "-I", "-S", "-c", loaded).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 10 {
		t.Fatalf("only %d libraries are loaded", len(files))
	}
	for _, file := range files {
		if !slices.ContainsFunc(found.Mounts, func(m Mount) bool { return m.From == file || m.Dir && within(file, m.From) }) {
			t.Errorf("%s is not among the mounts", file)
		}
	}
}

func TestExtract(t *testing.T) {
	found, dir := python(t), t.TempDir()
	for range 2 { // over itself too
		if err := Extract(t.Context(), dir, found); err != nil {
			t.Fatal(err)
		}
	}
	cached, err := filepath.Glob(filepath.Join(dir, "spade_worker", "__pycache__", "*.pyc"))
	if err != nil || len(cached) == 0 {
		t.Errorf("%d files of byte code, %v", len(cached), err)
	}
	if _, err := os.Stat(filepath.Join(dir, MainFile)); err != nil {
		t.Error(err)
	}
	if err := Extract(t.Context(), filepath.Join(dir, "absent", "x"), found); err == nil {
		t.Error("a folder that cannot be written is no error")
	}
}
