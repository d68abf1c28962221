package pools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
)

// runtimes are the languages by the ends of file names.
var runtimes = map[string]string{".py": gym.RuntimePython, ".star": gym.RuntimeStarlark}

// folder lists the sources in a folder, or the one file. Links are not followed; what begins with a dot is left out.
func folder(path string) ([]Entry, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: there is no file or folder %q; %s", ErrSpec, path, forms())
		}
		return nil, fmt.Errorf("read a pool: %w", err)
	}
	if !info.IsDir() {
		entry, err := file(path, filepath.Base(path))
		if err != nil {
			return nil, err
		}
		return []Entry{entry}, nil
	}
	var entries []Entry
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && at != path
		if d.IsDir() {
			if hidden || d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || !d.Type().IsRegular() || runtimes[filepath.Ext(at)] == "" {
			return nil
		}
		name, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		entry, err := file(at, filepath.ToSlash(name))
		if err == nil {
			entries = append(entries, entry)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the pool %s: %w", path, err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%w: %s: %w", ErrSpec, path, errNoSources)
	}
	return entries, nil
}

// file reads one source, and no more of it than a source may have.
func file(path, name string) (entry Entry, err error) {
	runtime, ok := runtimes[filepath.Ext(path)]
	if !ok {
		return Entry{}, fmt.Errorf("%w: %s ends in neither .py nor .star", ErrSpec, path)
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return Entry{}, fmt.Errorf("read a pool's source: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	code, err := io.ReadAll(io.LimitReader(f, gym.MaxCode+1))
	if err != nil {
		return Entry{}, fmt.Errorf("read a pool's source: %w", err)
	}
	if len(code) > gym.MaxCode {
		return Entry{}, fmt.Errorf("%w: %s has more than the %d bytes that a source may have", ErrSpec, path, gym.MaxCode)
	}
	return Entry{Name: name, Source: gym.Source{Runtime: runtime, Code: string(code)}, SeedTo: math.MaxUint64}, nil
}
