package chdblib

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNPM is a shell script in place of npm. It runs in the folder that is installed into.
func fakeNPM(t *testing.T, script string) Settings {
	t.Helper()
	path := filepath.Join(t.TempDir(), "npm")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nset -e\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a script
		t.Fatal(err)
	}
	return Settings{NPM: path}
}

// good installs what npm would.
func good(t *testing.T) string {
	t.Helper()
	p, err := host()
	if err != nil {
		t.Fatal(err)
	}
	dir := "node_modules/" + p.name
	return `grep -q '"` + Version + `"' package.json; mkdir -p ` + dir + `; echo library > ` + dir + `/libchdb.so; echo '{"version": "` + Version + `"}' > ` + dir + `/package.json`
}

// alone keeps the machine's own library and settings out of a test.
func alone(t *testing.T) Config {
	t.Helper()
	t.Setenv("SPADE_LIBCHDB", "")
	t.Chdir(t.TempDir())
	return Config{CacheDir: t.TempDir()}
}

func TestInstallAndFind(t *testing.T) {
	cfg := alone(t)
	if _, err := Find(cfg); !errors.Is(err, ErrMissing) || !Missing(err) || !strings.Contains(err.Error(), "spade install") {
		t.Errorf("before: %v", err)
	}
	var progress bytes.Buffer
	set := fakeNPM(t, good(t))
	set.Progress = &progress
	path, err := Install(t.Context(), cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "library\n" {
		t.Errorf("installed %q, %v", text, err)
	}
	if !strings.Contains(progress.String(), "MB") {
		t.Errorf("progress: %q", progress.String())
	}
	if found, err := Find(cfg); err != nil || found != path {
		t.Errorf("found %q, %v", found, err)
	}
	again, err := Install(t.Context(), cfg, fakeNPM(t, "exit 1"))
	if err != nil || again != path {
		t.Errorf("a second install: %q, %v", again, err)
	}
	left, err := filepath.Glob(filepath.Join(cfg.CacheDir, "*.tmp-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestInstallTwiceAtOnce(t *testing.T) {
	cfg := alone(t)
	runs := filepath.Join(t.TempDir(), "runs")
	set := fakeNPM(t, "echo run >> "+runs+"; sleep 0.3; "+good(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := Install(t.Context(), cfg, set); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if text, err := os.ReadFile(runs); err != nil || string(text) != "run\n" {
		t.Errorf("npm ran %q, %v", text, err)
	}
}

func TestInstallErrors(t *testing.T) {
	t.Run("npm missing", func(t *testing.T) {
		cfg := alone(t)
		t.Setenv("PATH", t.TempDir())
		if _, err := Install(t.Context(), cfg, Settings{}); !errors.Is(err, ErrNoNPM) || !strings.Contains(err.Error(), "apt-get install") {
			t.Error(err)
		}
	})
	t.Run("npm fails", func(t *testing.T) {
		_, err := Install(t.Context(), alone(t), fakeNPM(t, "echo 'E404 no such thing' >&2; exit 1"))
		if err == nil || !strings.Contains(err.Error(), "E404 no such thing") {
			t.Error(err)
		}
	})
	t.Run("disk full", func(t *testing.T) {
		if _, err := Install(t.Context(), alone(t), fakeNPM(t, "echo 'npm error ENOSPC' >&2; exit 1")); !errors.Is(err, ErrDiskFull) {
			t.Error(err)
		}
		if err := checkSpace(t.TempDir(), 1<<60); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "SPADE_CACHE") {
			t.Error(err)
		}
	})
	t.Run("npm lies", func(t *testing.T) {
		if _, err := Install(t.Context(), alone(t), fakeNPM(t, "true")); err == nil || !strings.Contains(err.Error(), "no library") {
			t.Error(err)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		cfg := alone(t)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := Install(ctx, cfg, fakeNPM(t, "exec sleep 60")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if _, err := Find(cfg); !errors.Is(err, ErrMissing) {
			t.Errorf("a cut install is taken for a whole one: %v", err)
		}
	})
	t.Run("an earlier install was killed", func(t *testing.T) {
		cfg := alone(t)
		target, err := cfg.target()
		if err != nil {
			t.Fatal(err)
		}
		stale := target + ".tmp-1"
		if err := os.MkdirAll(stale, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Install(t.Context(), cfg, fakeNPM(t, good(t))); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(stale); err == nil {
			t.Error("its folder is still there")
		}
	})
}

func TestFindGiven(t *testing.T) {
	cfg := alone(t)
	mine := filepath.Join(t.TempDir(), "mine.so")
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(Config{Path: mine}); err != nil || got != mine {
		t.Errorf("by config: %q, %v", got, err)
	}
	t.Setenv("SPADE_LIBCHDB", mine)
	if got, err := Find(cfg); err != nil || got != mine {
		t.Errorf("by environment: %q, %v", got, err)
	}
	t.Setenv("SPADE_LIBCHDB", mine+".not")
	if _, err := Find(cfg); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "SPADE_LIBCHDB") {
		t.Errorf("a wrong path: %v", err)
	}
	if _, err := Install(t.Context(), cfg, fakeNPM(t, good(t))); err == nil {
		t.Error("installed although another library was asked for")
	}
}

func TestFindInNodeModules(t *testing.T) {
	cfg := alone(t)
	p, err := host()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "node_modules", filepath.FromSlash(p.name))
	below := filepath.Join(root, "a", "b")
	for _, d := range []string{dir, below} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(below)
	for version, want := range map[string]bool{"1.0.0": false, Version: true} {
		for name, text := range map[string]string{"libchdb.so": "x", "package.json": `{"version": "` + version + `"}`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if path, err := Find(cfg); (err == nil) != want {
			t.Errorf("version %s: %q, %v", version, path, err)
		}
	}
}

func TestPlatforms(t *testing.T) {
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	for _, c := range []struct {
		os, arch string
		exists   func(string) bool
		want     string
		err      string
	}{
		{"linux", "amd64", all, "@chdb/lib-linux-x64-gnu", ""},
		{"linux", "arm64", all, "@chdb/lib-linux-arm64-gnu", ""},
		{"darwin", "arm64", none, "@chdb/lib-darwin-arm64", ""},
		{"darwin", "amd64", none, "@chdb/lib-darwin-x64", ""},
		{"linux", "amd64", none, "", "musl"},
		{"linux", "riscv64", all, "", "linux/riscv64"},
		{"windows", "amd64", all, "", "windows/amd64"},
	} {
		p, err := platform(c.os, c.arch, c.exists)
		switch {
		case c.err == "" && (err != nil || p.name != c.want):
			t.Errorf("%s/%s: %q, %v", c.os, c.arch, p.name, err)
		case c.err != "" && (!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s/%s: %v, want %q", c.os, c.arch, err, c.err)
		}
	}
}
