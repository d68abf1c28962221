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
	"syscall"
	"unicode/utf8"

	"github.com/seed256f7767/spade/internal/gym"
)

// found is what a folder holds: sources, and files that look like one and cannot be an entry.
type found struct {
	entries []Entry
	absent  []Absent // with a reason that goes on from the name
}

// folder lists the sources that a spec's path stands for, with the package set that those in Python import.
func (s Spec) folder() (found, error) {
	f, err := folder(s.Path)
	if err != nil || s.Package == "" {
		return f, err
	}
	python := false
	for i := range f.entries {
		if src := &f.entries[i].Source; src.Runtime == gym.RuntimePython {
			src.Package, python = s.Package, true
		}
	}
	if !python {
		return found{}, &specError{fmt.Errorf("%s has no Python source, and no other can import the package set %q", s.Path, s.Package)}
	}
	return f, nil
}

// folder lists the sources in a folder, or the one file.
func folder(path string) (found, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return found{}, &specError{fmt.Errorf("there is no file or folder %q; %s", path, forms())}
		}
		return found{}, fmt.Errorf("read a pool: %w", err)
	}
	if !info.IsDir() {
		entry, err := file(path, filepath.Base(path))
		return found{entries: []Entry{entry}}, err
	}
	var f found
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == path {
			return err
		}
		name, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		return f.add(at, filepath.ToSlash(name), d)
	})
	if err != nil {
		return found{}, fmt.Errorf("read the pool %s: %w", path, err)
	}
	if len(f.entries) == 0 {
		return found{}, &specError{fmt.Errorf("%s: %w", path, f.nothing())}
	}
	return f, nil
}

// add takes what a walk of the folder meets. Folders that begin with a dot hold what tools keep there, and are no part of it.
func (f *found) add(at, name string, d fs.DirEntry) error {
	dotted := strings.HasPrefix(d.Name(), ".")
	if d.IsDir() {
		if dotted || d.Name() == "__pycache__" {
			return fs.SkipDir
		}
		return nil
	}
	link := d.Type()&fs.ModeSymlink != 0
	if gym.RuntimeOfFile(at) == "" && !(link && isFolder(at)) {
		return nil
	}
	var entry Entry
	var err error
	switch {
	case link:
		err = &FileError{at, "is a link, which is not followed"}
	case dotted:
		err = &FileError{at, "has a name that begins with a dot"}
	case !utf8.ValidString(name):
		err = &FileError{at, "has a name that is not UTF-8"}
	default:
		entry, err = file(at, name)
	}
	if bad, ok := errors.AsType[*FileError](err); ok {
		f.absent = append(f.absent, Absent{Name: strings.ToValidUTF8(name, "\uFFFD"), Reason: bad.Reason})
		return nil
	}
	if err == nil {
		f.entries = append(f.entries, entry)
	}
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// nothing says why a folder has no entries.
func (f *found) nothing() error {
	if len(f.absent) == 0 {
		return errNoSources
	}
	return fmt.Errorf("%w that can be used: %s %s", errNoSources, f.absent[0].Name, f.absent[0].Reason)
}

// file reads one source.
func file(path, name string) (Entry, error) {
	runtime := gym.RuntimeOfFile(path)
	if runtime == "" {
		return Entry{}, &specError{EndingError(path)}
	}
	code, err := ReadFile(path)
	if err != nil {
		return Entry{}, &specError{err}
	}
	return Entry{Name: name, Source: gym.Source{Runtime: runtime, Code: code}, SeedTo: math.MaxUint64}, nil
}

// EndingError says that the name of a file does not tell its language.
func EndingError(path string) *FileError {
	return &FileError{path, "ends in neither .py nor .star"}
}

// ReadFile reads the code in a file, and no more of it than a source may have. Anything but a regular file, which may have no
// end or nobody to write it, is a *FileError, as is one that is too large.
func ReadFile(path string) (code string, err error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return "", fmt.Errorf("read a source: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read a source: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", &FileError{path, "is no regular file"}
	}
	text, err := io.ReadAll(io.LimitReader(f, gym.MaxCode+1))
	if err != nil {
		return "", fmt.Errorf("read a source: %w", err)
	}
	if len(text) > gym.MaxCode {
		return "", &FileError{path, fmt.Sprintf("has more than the %d bytes that a source may have", gym.MaxCode)}
	}
	return string(text), nil
}
