package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed256f7767/spade/internal/gym/python"
)

const defaultInterpreter = "python3"

// Config says where package sets are. The zero value is the default.
type Config struct {
	// CacheDir is the folder that sets are installed under. Empty: $SPADE_CACHE, else "spade" in the user's cache folder.
	CacheDir string
	// Interpreter is the Python that sets are for, a path or a name on the PATH. Empty: python3.
	Interpreter string
}

// Find returns the site-packages folder of an installed set. Where it is not installed the error is a *MissingError.
func Find(ctx context.Context, cfg Config, name string) (string, error) {
	found, err := FindAll(ctx, cfg, []string{name})
	return found[name], err
}

// FindAll is Find for several sets, which asks for the version of Python once: site-packages folders by the names of sets.
func FindAll(ctx context.Context, cfg Config, names []string) (map[string]string, error) {
	for _, name := range names {
		if err := Known(name); err != nil {
			return nil, err
		}
	}
	minor, err := cfg.pythonMinor(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		s, _ := setOf(name)
		target, err := cfg.target(s, minor)
		if err != nil {
			return nil, err
		}
		site := filepath.Join(target, "site-packages")
		if info, err := os.Stat(site); err != nil || !info.IsDir() {
			return nil, &MissingError{Set: name, Dir: target, Interpreter: cfg.Interpreter, Minor: minor, Megabytes: s.fetched}
		}
		found[name] = site
	}
	return found, nil
}

// Installed returns the site-packages folders of all sets that are installed, by their names: what
// gym.PythonConfig.Packages takes. Without a usable Python there are none.
func Installed(ctx context.Context, cfg Config) (map[string]string, error) {
	found := map[string]string{}
	minor, err := cfg.pythonMinor(ctx)
	if err != nil {
		if errors.Is(err, ErrPython) {
			return found, nil
		}
		return nil, err
	}
	for _, s := range sets {
		target, err := cfg.target(s, minor)
		if err != nil {
			return nil, err
		}
		site := filepath.Join(target, "site-packages")
		if info, err := os.Stat(site); err == nil && info.IsDir() {
			found[s.name] = site
		}
	}
	return found, nil
}

// target is the folder of a set for one version of Python.
func (cfg Config) target(s set, minor int) (string, error) {
	lock, err := s.lock()
	if err != nil {
		return "", fmt.Errorf("read the requirements of %s: %w", s.name, err)
	}
	root, err := cfg.root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, fmt.Sprintf("env-%s-%s-%s-py3.%d", s.name, s.version(lock), s.digest(lock), minor)), nil
}

// root is the cache that the embedded engine is in as well.
func (cfg Config) root() (string, error) {
	dir := cfg.CacheDir
	if dir == "" {
		dir = os.Getenv("SPADE_CACHE")
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder (set SPADE_CACHE): %w", err)
		}
		dir = filepath.Join(user, "spade")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return abs, nil
}

func (cfg Config) interpreter() string {
	return cmp.Or(cfg.Interpreter, defaultInterpreter)
}

// pythonMinor asks the interpreter for its version.
func (cfg Config) pythonMinor(ctx context.Context) (int, error) {
	minor, err := python.Minor(ctx, cfg.interpreter())
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPython, err)
	}
	return minor, nil
}
