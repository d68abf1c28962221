package pools

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakePython is a python3 that says a version, makes virtual environments of itself, and installs by counting.
const fakePython = `#!/bin/sh
case "$*" in
*"-c "*) echo '{"version": [3, '"$(cat "$0.minor")"', 1], "implementation": "cpython", "path": "/python"}' ;;
*"-m venv "*) eval "dir=\${$#}"; mkdir -p "$dir/bin"; cp "$0" "$dir/bin/python" ;;
*"-m pip "*)
	echo x >>"$COUNT"
	echo "Collecting gymnasium==1.4.0"
	while [ "$1" != "--target" ]; do shift; done
	mkdir -p "$2/gymnasium" "$2/bin"
	if [ -n "$FAIL" ]; then echo "ERROR: $FAIL" >&2; exit 1; fi
	if [ -n "$HANG" ]; then exec sleep 60; fi ;;
esac
`

func fake(t *testing.T, env map[string]string) (cfg Config, installs func() int) {
	t.Helper()
	dir := t.TempDir()
	cfg = Config{CacheDir: filepath.Join(dir, "cache"), Interpreter: filepath.Join(dir, "python3")}
	if err := os.WriteFile(cfg.Interpreter, []byte(fakePython), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	count := filepath.Join(dir, "count")
	t.Setenv("COUNT", count)
	become(t, cfg, cmp.Or(env["MINOR"], "12"))
	for name, value := range env {
		t.Setenv(name, value)
	}
	return cfg, func() int {
		text, _ := os.ReadFile(count) //nolint:gosec // the test's own file; none is none
		return strings.Count(string(text), "x")
	}
}

// become makes the fake Python one of another minor version.
func become(t *testing.T, cfg Config, minor string) {
	t.Helper()
	if err := os.WriteFile(cfg.Interpreter+".minor", []byte(minor), 0o600); err != nil {
		t.Fatal(err)
	}
}

// leftovers are what an install left in the cache besides sets and their locks.
func leftovers(t *testing.T, cfg Config) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cfg.CacheDir, "*.tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInstall(t *testing.T) {
	cfg, installs := fake(t, nil)
	_, err := Find(t.Context(), cfg, "gymnasium")
	missing, ok := errors.AsType[*MissingError](err)
	if !ok || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "spade env install gymnasium") || missing.Set != "gymnasium" {
		t.Fatalf("before: %v", err)
	}
	if said := err.Error(); !strings.Contains(said, "Python 3.12") || !strings.HasSuffix(missing.Command(), "--python-interpreter "+cfg.Interpreter) {
		t.Errorf("for which Python: %v", err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var told strings.Builder
			site, err := Install(t.Context(), cfg, "gymnasium", Settings{Progress: &told})
			if err != nil {
				t.Errorf("install: %v; it told\n%s", err, told.String())
			}
			if info, err := os.Stat(filepath.Join(site, "gymnasium")); err != nil || !info.IsDir() {
				t.Errorf("%s: %v", site, err)
			}
			if _, err := os.Stat(filepath.Join(site, "bin")); err == nil {
				t.Errorf("%s holds programs", site)
			}
		})
	}
	wg.Wait()
	if n := installs(); n != 1 {
		t.Errorf("installed %d times", n)
	}
	if left := leftovers(t, cfg); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	found, err := Installed(t.Context(), cfg)
	if err != nil || len(found) != 1 || !strings.HasSuffix(found["gymnasium"], "site-packages") {
		t.Errorf("installed: %v, %v", found, err)
	}
	become(t, cfg, "13") // another Python has nothing installed
	if found, err := Installed(t.Context(), cfg); err != nil || len(found) != 0 {
		t.Errorf("for another Python: %v, %v", found, err)
	}
}

func TestInstallThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		set  string
		want error
		says string
	}{
		"pip":        {map[string]string{"FAIL": "no matching distribution"}, "gymnasium", nil, "no matching distribution"},
		"disk":       {map[string]string{"FAIL": "[Errno 28] No space left on device"}, "gymnasium", ErrDiskFull, ""},
		"old python": {map[string]string{"MINOR": "10"}, "verifiers", ErrPython, "3.11"},
		"new python": {map[string]string{"MINOR": "99"}, "gymnasium", ErrPython, "3.99"},
		"older":      {map[string]string{"MINOR": "9"}, "gymnasium", ErrPython, "3.10 or later"},
		"no version": {map[string]string{"MINOR": "x"}, "gymnasium", ErrPython, ""},
		"unknown":    {nil, "gymnasum", ErrSpec, "reasoning-gym"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := fake(t, c.env)
			_, err := Install(t.Context(), cfg, c.set, Settings{})
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v", err)
			}
			if left := leftovers(t, cfg); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			t.Setenv("FAIL", "")
			if found, _ := Installed(t.Context(), cfg); len(found) != 0 {
				t.Errorf("installed: %v", found)
			}
		})
	}
}

func TestInstallIsCancelled(t *testing.T) {
	cfg, installs := fake(t, map[string]string{"HANG": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	told := watcher{seen: make(chan struct{})}
	go func() {
		<-told.seen
		cancel()
	}()
	_, err := Install(ctx, cfg, "gymnasium", Settings{Progress: &told})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := leftovers(t, cfg); len(left) > 0 || installs() != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// watcher closes seen when pip has begun.
type watcher struct {
	seen chan struct{}
	once sync.Once
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Collecting") {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func TestWithoutPython(t *testing.T) {
	cfg := Config{CacheDir: t.TempDir(), Interpreter: filepath.Join(t.TempDir(), "none")}
	if _, err := Find(t.Context(), cfg, "gymnasium"); !errors.Is(err, ErrPython) {
		t.Errorf("find: %v", err)
	}
	if found, err := Installed(t.Context(), cfg); err != nil || len(found) != 0 {
		t.Errorf("installed: %v, %v", found, err)
	}
}
