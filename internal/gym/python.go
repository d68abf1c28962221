package gym

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed256f7767/spade/internal/gym/python"
	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// pythonRuntime is what the Python runtime needs on this machine, prepared once.
type pythonRuntime struct {
	// mu is held while the runtime is prepared and tested, and guards tested.
	mu     sync.Mutex
	tested bool

	// files guards the following.
	files     sync.Mutex
	found     foundPython
	why       string // there are no control groups, or which version there is
	removed   bool   // for good
	libraries map[string][]python.Mount
}

// foundPython is a prepared runtime: the interpreter, the folder with the worker's own files, and how control groups are
// made, which they cannot be on many machines.
type foundPython struct {
	interpreter python.Interpreter
	dir         string
	// group makes a control group; nil: none can be made.
	group func(cgroup.Limits) (group, error)
	// libraries are those that the packages of one launch need.
	libraries []python.Mount
}

// prepare finds the interpreter and the control groups and writes the worker's files, if that has not been done.
func (r *pythonRuntime) prepare(ctx context.Context, name string, grouped bool, log *slog.Logger) error {
	r.files.Lock()
	defer r.files.Unlock()
	switch {
	case r.removed:
		return ErrClosed
	case r.found.dir != "":
		return nil
	}
	found := foundPython{}
	r.why = "not asked for"
	if grouped {
		parent, err := cgroup.Find()
		switch {
		case errors.Is(err, cgroup.ErrUnavailable):
			r.why = err.Error()
		case err != nil:
			return err
		default:
			r.why = fmt.Sprintf("version %d", parent.Version())
			found.group = func(l cgroup.Limits) (group, error) { return parent.New(l) }
			if err := parent.Sweep(); err != nil { // another user's, for one
				log.WarnContext(ctx, "control groups of a killed process are left", "error", err.Error())
			}
		}
	}
	var err error
	if found.interpreter, err = python.Find(ctx, or(name, "python3")); err != nil {
		return err
	}
	if found.dir, err = workerFiles(ctx, found.interpreter); err != nil {
		return err
	}
	r.found = found
	return nil
}

// filesPrefix begins the names of the folders with the worker's files; the name of their maker follows.
const filesPrefix = "python-"

// workerFiles writes the worker's files into a folder of this process, and removes those of processes that were killed.
func workerFiles(ctx context.Context, interpreter python.Interpreter) (string, error) {
	sweepFiles(os.TempDir())
	name, err := maker.Name(os.Getpid())
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", filesPrefix+name+"-")
	if err != nil {
		return "", fmt.Errorf("folder for the Python worker: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // a worker may be nobody, and it holds no secret
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	if err := python.Extract(ctx, dir, interpreter); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// sweepFiles removes folders of processes that have ended without. Others' are not ours to remove, so that errors mean
// nothing.
func sweepFiles(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		made, ours := strings.CutPrefix(e.Name(), filesPrefix)
		if ours && e.IsDir() && maker.Gone(made) {
			_ = os.RemoveAll(filepath.Join(temp, e.Name()))
		}
	}
}

// look returns the prepared runtime for a launch with the packages in a folder, or none.
func (r *pythonRuntime) look(packages string) (foundPython, error) {
	r.files.Lock()
	defer r.files.Unlock()
	if r.found.dir == "" {
		return foundPython{}, ErrClosed
	}
	found := r.found
	if packages == "" {
		return found, nil
	}
	if _, ok := r.libraries[packages]; !ok {
		libraries, err := python.Libraries(packages)
		if err != nil {
			return foundPython{}, fmt.Errorf("installed packages: %w", err)
		}
		if r.libraries == nil {
			r.libraries = map[string][]python.Mount{}
		}
		r.libraries[packages] = libraries
	}
	found.libraries = r.libraries[packages]
	return found, nil
}

// groups says which control groups there are or why there are none.
func (r *pythonRuntime) groups() string {
	r.files.Lock()
	defer r.files.Unlock()
	return r.why
}

// withoutGroups goes on without control groups, which turned out not to take processes.
func (r *pythonRuntime) withoutGroups(why error) {
	r.files.Lock()
	defer r.files.Unlock()
	r.found.group, r.why = nil, why.Error()
}

// remove removes the worker's files. Nothing is prepared afterwards: a first source may be on its way when the pool closes.
func (r *pythonRuntime) remove() error {
	r.files.Lock()
	defer r.files.Unlock()
	r.removed = true
	if r.found.dir == "" {
		return nil
	}
	err := os.RemoveAll(r.found.dir)
	r.found.dir = ""
	return err
}
