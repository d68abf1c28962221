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

// MissingError says that a set is not installed for a Python, and how it gets there.
type MissingError struct {
	Set, Dir    string
	Interpreter string // as it was configured; empty: python3
	Minor       int    // of its version
	Megabytes   int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%v: %s for Python 3.%d is not in %s; `%s` fetches it (about %d MB)", ErrMissing, e.Set, e.Minor, e.Dir, e.Command(), e.Megabytes)
}

// Command is the command that installs it.
func (e *MissingError) Command() string {
	command := "spade env install " + e.Set
	if e.Interpreter != "" && e.Interpreter != defaultInterpreter {
		command += " --python-interpreter " + e.Interpreter
	}
	return command
}

func (e *MissingError) Is(target error) bool { return target == ErrMissing }
