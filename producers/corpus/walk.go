package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Kinds of files that are passed over; others are named by their extension.
const (
	kindHidden  = "hidden"
	kindSymlink = "symbolic link"
	kindSpecial = "special file"
	kindNoExt   = "no extension"
)

// candidate is a file to be read.
type candidate struct {
	source string   // relative to its root, with slashes
	size   int64    // as listed
	root   *os.Root // the folder that was given, or the one that holds the file that was given
	format format
}

// listing is what the given paths hold.
type listing struct {
	files    []candidate
	skipped  map[string]int
	problems []*Problem
	roots    []*os.Root
	folders  map[string]*os.Root // of files that were given themselves; they share an open folder
}

// list finds the files to read, sorted by their path relative to the root that was given. Symbolic links inside a given
// folder are not followed, and nothing outside it can be opened, even if the folder changes meanwhile. The listing must be
// closed.
func list(ctx context.Context, paths []string) (*listing, error) {
	l := &listing{skipped: map[string]int{}, folders: map[string]*os.Root{}}
	for _, p := range paths {
		if err := l.add(ctx, p); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	slices.SortStableFunc(l.files, func(a, b candidate) int { return strings.Compare(a.source, b.source) })
	return l, nil
}

func (l *listing) close() error {
	var errs []error
	for _, r := range l.roots {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// add lists one given path. A path that was named is followed even if it is a link or hidden.
func (l *listing) add(ctx context.Context, given string) error {
	info, err := os.Stat(given)
	if err != nil {
		l.problem(filepath.Base(given), ErrUnreadable, err)
		return nil
	}
	if info.IsDir() {
		root, err := l.open(given)
		if err != nil {
			l.problem(filepath.Base(given), ErrUnreadable, err)
			return nil
		}
		return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return l.visit(root, name, d, err)
		})
	}
	return l.single(given, info)
}

// errName is why a file whose name no event can hold is passed over.
var errName = errors.New("its name is not UTF-8")

// single lists a file that was named itself.
func (l *listing) single(given string, info fs.FileInfo) error {
	name := filepath.Base(given)
	f, ok := formatOf(name)
	switch {
	case !utf8.ValidString(name):
		l.problem(name, ErrUnreadable, errName)
		return nil
	case !info.Mode().IsRegular():
		l.problem(name, ErrUnsupported, errors.New(kindSpecial))
		return nil
	case !ok:
		l.problem(name, ErrUnsupported, fmt.Errorf("supported are %s", strings.Join(Extensions(), " ")))
		return nil
	}
	// The file itself may be a link to elsewhere, so its folder is the one it really lies in.
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		l.problem(name, ErrUnreadable, err)
		return nil
	}
	root, err := l.folder(filepath.Dir(real))
	if err != nil {
		l.problem(name, ErrUnreadable, err)
		return nil
	}
	l.files = append(l.files, candidate{source: filepath.Base(real), size: info.Size(), root: root, format: f})
	return nil
}

// folder opens the folder of a file that was given itself, once.
func (l *listing) folder(dir string) (*os.Root, error) {
	if root, ok := l.folders[dir]; ok {
		return root, nil
	}
	root, err := l.open(dir)
	if err == nil {
		l.folders[dir] = root
	}
	return root, err
}

func (l *listing) open(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		l.roots = append(l.roots, root)
	}
	return root, err
}

// visit lists one entry of a folder.
func (l *listing) visit(root *os.Root, name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		l.problem(name, ErrUnreadable, err)
		if d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case name == ".":
		return nil
	case !utf8.ValidString(name):
		l.problem(name, ErrUnreadable, errName)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case strings.HasPrefix(d.Name(), "."):
		l.skipped[kindHidden]++
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		l.skipped[kindSymlink]++
		return nil
	case !d.Type().IsRegular():
		l.skipped[kindSpecial]++
		return nil
	}
	return l.regular(root, name, d)
}

func (l *listing) regular(root *os.Root, name string, d fs.DirEntry) error {
	f, ok := formatOf(name)
	if !ok {
		l.skipped[skippedKind(name)]++
		return nil
	}
	info, err := d.Info()
	if err != nil {
		l.problem(name, ErrUnreadable, err)
		return nil
	}
	l.files = append(l.files, candidate{source: name, size: info.Size(), root: root, format: f})
	return nil
}

// skippedKind names the kind of a file that is not read.
func skippedKind(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if len(ext) < 2 || len(ext) > 12 || strings.ContainsAny(ext, " \t") {
		return kindNoExt
	}
	return ext
}

// problem records a fault with a path that tells nothing of the machine: an *fs.PathError would name the whole path.
func (l *listing) problem(name string, class, cause error) {
	l.problems = append(l.problems, &Problem{Path: name, Class: class, Cause: withoutPath(cause)})
}

func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// openFile opens a candidate for reading. It was a regular file when it was listed; O_NONBLOCK keeps a pipe that took
// its place since from blocking.
func (c candidate) openFile() (*os.File, int64, error) {
	f, err := c.root.OpenFile(c.source, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, withoutPath(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no longer a regular file")
	}
	if err != nil {
		return nil, 0, errors.Join(withoutPath(err), f.Close())
	}
	return f, info.Size(), nil
}
