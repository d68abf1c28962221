package pools

import (
	"errors"
	"fmt"
)

var (
	// ErrMissing is matched by the error of a package set that is not installed.
	ErrMissing = errors.New("the package set is not installed")
	// ErrPython is matched by errors about the Python that a set is installed with or for.
	ErrPython = errors.New("python")
	// ErrDiskFull is matched when there is no room for a set.
	ErrDiskFull = errors.New("no space left")
	// ErrCatalogue is matched when a package's catalogue is not one.
	ErrCatalogue = errors.New("catalogue")
)

// FileError says why a file is no source: its reason goes on from its path.
type FileError struct{ Path, Reason string }

func (e *FileError) Error() string { return e.Path + " " + e.Reason }

// MissingError says that a set is not installed and how it gets there.
type MissingError struct {
	Set, Dir  string
	Megabytes int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%v: %s is not in %s; `spade env install %s` fetches it (about %d MB)", ErrMissing, e.Set, e.Dir, e.Set, e.Megabytes)
}

func (e *MissingError) Is(target error) bool { return target == ErrMissing }
