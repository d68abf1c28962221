package chdblib

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Config says where the library is or goes. The zero value is the default.
type Config struct {
	// Path of the library itself. Empty: $SPADE_LIBCHDB, else it is looked for. One that is given must exist.
	Path string
	// CacheDir is the folder that Install writes to. Empty: $SPADE_CACHE, else "spade" in the user's cache folder.
	CacheDir string
}

// fileNames are what the packages call the library.
var fileNames = []string{"libchdb.so", "libchdb.dylib"}

// Find returns the path of the library: the one given, else the installed one, else one of the right version in a
// node_modules folder above the working directory or the executable. It fails with ErrMissing or ErrUnsupported.
func Find(cfg Config) (string, error) {
	for _, given := range []struct{ path, from string }{{cfg.Path, "the configuration"}, {os.Getenv("SPADE_LIBCHDB"), "SPADE_LIBCHDB"}} {
		if given.path == "" {
			continue
		}
		if _, err := os.Stat(given.path); err != nil {
			return "", fmt.Errorf("%w: %s names it: %w", ErrMissing, given.from, err)
		}
		return filepath.Abs(given.path)
	}
	p, err := host()
	if err != nil {
		return "", err
	}
	target, err := cfg.target()
	if err != nil {
		return "", err
	}
	if path, ok := library(target); ok {
		return path, nil
	}
	if path, ok := inNodeModules(p.name); ok {
		return path, nil
	}
	return "", fmt.Errorf("%w: it is not in %s; `spade install` or `make engine` fetches it (about 180 MB)", ErrMissing, target)
}

// target is the folder of the pinned version in the cache.
func (cfg Config) target() (string, error) {
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
	return filepath.Join(abs, "chdb-"+Version), nil
}

// library returns the library in the package folder dir, when it is of the pinned version.
func library(dir string) (string, bool) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", false
	}
	var manifest struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(text, &manifest) != nil || manifest.Version != Version {
		return "", false
	}
	for _, name := range fileNames {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return path, true
		}
	}
	return "", false
}

func inNodeModules(name string) (string, bool) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		for {
			if path, ok := library(filepath.Join(dir, "node_modules", filepath.FromSlash(name))); ok {
				return path, true
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", false
}

// Missing reports whether err says that Install would help.
func Missing(err error) bool { return errors.Is(err, ErrMissing) }
