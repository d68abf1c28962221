package python

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed worker/*.py worker/spade_worker/*.py worker/spade_pools/*.py
var embedded embed.FS

// MainFile is the file of the tree that the interpreter runs.
const MainFile = "main.py"

// Files returns the worker's tree: main.py and the packages spade_worker and spade_pools.
func Files() (fs.FS, error) {
	sub, err := fs.Sub(embedded, "worker")
	if err != nil {
		return nil, fmt.Errorf("files of the Python worker: %w", err)
	}
	return sub, nil
}

// compileAll writes byte code that is used without a look at the source, which saves a process start a few milliseconds.
const compileAll = `import os, py_compile, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".py"):
            py_compile.compile(os.path.join(folder, name), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)`

// Extract writes the worker's files into dir, which must exist, with byte code for the interpreter. Everything is readable
// by everyone, for a worker may run as nobody.
func Extract(ctx context.Context, dir string, interpreter Interpreter) error {
	tree, err := Files()
	if err != nil {
		return err
	}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return errors.Join(ignoreExists(os.Mkdir(path, 0o755)), os.Chmod(path, 0o755)) //nolint:gosec // it holds no secret
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644) //nolint:gosec // it holds no secret
	})
	if err != nil {
		return fmt.Errorf("write the Python worker: %w", err)
	}
	cmd := exec.CommandContext(ctx, interpreter.Path, "-I", "-S", "-X", "utf8", "-c", compileAll, dir)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the Python worker: %w: %s", err, strings.TrimSpace(string(out)))
	}
	// The compiler leaves its folders and files to the umask, and a worker may run as nobody.
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o755) //nolint:gosec // as above
		default:
			return os.Chmod(path, 0o644) //nolint:gosec // as above
		}
	})
	if err != nil {
		return fmt.Errorf("open the Python worker to its readers: %w", err)
	}
	return nil
}

func ignoreExists(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
