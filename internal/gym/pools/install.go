package pools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Settings are what code passes to Install.
type Settings struct {
	// Progress receives lines for people. Nil: none.
	Progress io.Writer
}

// Install fetches a package set with pip, unless it is there, and returns its site-packages folder. It may run in several
// processes at once: one installs, the others wait and find it. An install that is cut short leaves nothing that Find
// would take. Only built packages are taken, so nothing of a package runs on this machine outside the sandbox.
func Install(ctx context.Context, cfg Config, name string, set Settings) (string, error) {
	if set.Progress == nil {
		set.Progress = io.Discard
	}
	site, err := Find(ctx, cfg, name)
	if err == nil || !errors.Is(err, ErrMissing) {
		return site, err
	}
	s, _ := setOf(name)
	minor, err := cfg.pythonMinor(ctx)
	if err != nil {
		return "", err
	}
	if err := s.fits(cfg, minor); err != nil {
		return "", err
	}
	target, err := cfg.target(s, minor)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lockFile(ctx, target+".lock", set.Progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if site, err := Find(ctx, cfg, name); err == nil {
		return site, nil
	}
	if err := fetch(ctx, cfg, s, target, set); err != nil {
		return "", fmt.Errorf("install %s: %w", s.name, err)
	}
	return Find(ctx, cfg, name)
}

// Fits says whether the interpreter's version is one that a set is for; the error is ErrPython when it is not.
func Fits(ctx context.Context, cfg Config, name string) error {
	s, known := setOf(name)
	if !known {
		return Known(name)
	}
	minor, err := cfg.pythonMinor(ctx)
	if err != nil {
		return err
	}
	return s.fits(cfg, minor)
}

func (s set) fits(cfg Config, minor int) error {
	if minor < s.pythonFrom || minor > s.pythonTo {
		return fmt.Errorf("%w: %s needs Python 3.%d to 3.%d, %s is 3.%d: choose another with python.interpreter or PATH",
			ErrPython, s.name, s.pythonFrom, s.pythonTo, cfg.interpreter(), minor)
	}
	return nil
}

// fetch installs into a folder beside target and renames it. The caller holds the lock.
func fetch(ctx context.Context, cfg Config, s set, target string, set Settings) (err error) {
	if err := checkSpace(filepath.Dir(target), s); err != nil {
		return err
	}
	if err := removeStale(target); err != nil {
		return err
	}
	staging, err := os.MkdirTemp(filepath.Dir(target), filepath.Base(target)+".tmp-")
	if err != nil {
		return fmt.Errorf("make a folder to install into: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	_, _ = fmt.Fprintf(set.Progress, "%s: about %d MB to fetch, %d MB on disk, once\n", s.name, s.fetched, s.installed)

	lock, err := s.lock()
	if err != nil {
		return fmt.Errorf("read the requirements: %w", err)
	}
	list := filepath.Join(staging, "requirements.txt")
	if err := os.WriteFile(list, []byte(lock), 0o600); err != nil {
		return fmt.Errorf("write the requirements: %w", err)
	}
	tool, ready := filepath.Join(staging, "venv"), filepath.Join(staging, "ready")
	if err := run(ctx, set.Progress, cfg.interpreter(), "-m", "venv", tool); err != nil {
		return fmt.Errorf("%w: make a virtual environment (Debian and Ubuntu: apt-get install python3-venv): %w", ErrPython, err)
	}
	// --no-deps: the list is complete, and what a package asks for beyond it is not wanted. --ignore-requires-python: fits
	// has judged the version, and a package that says "up to 3.12" means 3.12.1 as well.
	if err := run(ctx, set.Progress, filepath.Join(tool, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "install",
		"--no-input", "--no-deps", "--ignore-requires-python", "--only-binary=:all:", "--target", filepath.Join(ready, "site-packages"), "--requirement", list); err != nil {
		return fmt.Errorf("pip: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(ready, "site-packages", "bin")); err != nil {
		return fmt.Errorf("leave the programs out: %w", err)
	}
	if err := os.Chmod(ready, 0o755); err != nil { // a worker may run as another user
		return fmt.Errorf("let workers read the set: %w", err)
	}
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("replace a damaged set: %w", err)
	}
	if err := os.Rename(ready, target); err != nil {
		return fmt.Errorf("put the set in place: %w", err)
	}
	_, _ = fmt.Fprintf(set.Progress, "%s: installed\n", s.name)
	return nil
}

// run ends with the program's last words when it fails. What pip collects and installs is told as it goes.
func run(ctx context.Context, progress io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	// One writer for both streams, so that one goroutine writes.
	both := io.MultiWriter(&out, &steps{out: progress})
	cmd.Stdout, cmd.Stderr = both, both
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text := strings.TrimSpace(out.String())
		if strings.Contains(text, "No space left on device") {
			return ErrDiskFull
		}
		if len(text) > 2000 {
			text = "…" + strings.ToValidUTF8(text[len(text)-2000:], "")
		}
		return fmt.Errorf("%w; it said: %s", err, text)
	}
	return nil
}

// steps passes on the lines that name a package.
type steps struct {
	out  io.Writer
	line []byte
}

func (s *steps) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			if len(s.line) < 200 {
				s.line = append(s.line, b)
			}
			continue
		}
		if text := string(s.line); strings.HasPrefix(text, "Collecting ") || strings.HasPrefix(text, "Installing ") {
			name, _, _ := strings.Cut(text, " (from ")
			_, _ = fmt.Fprintf(s.out, "  %s\n", plain(name))
		}
		s.line = s.line[:0]
	}
	return len(p), nil
}

func removeStale(target string) error {
	old, err := filepath.Glob(target + ".tmp-*")
	if err != nil {
		return fmt.Errorf("look for cut installs: %w", err)
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove a cut install: %w", err)
		}
	}
	return nil
}

// plain keeps control characters off the terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
