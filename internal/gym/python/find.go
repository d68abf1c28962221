package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The oldest version whose interpreter runs the worker.
const (
	leastMajor = 3
	leastMinor = 10
)

// findTimeout bounds the question to an interpreter. A shim that installs something first must not hold up a start.
const findTimeout = 30 * time.Second

// ErrNoPython says that there is no interpreter that can run the worker. The text around it says what to do.
var ErrNoPython = errors.New("no Python that runs environments")

// Interpreter is a CPython that can run the worker.
type Interpreter struct {
	// Path is the binary itself, behind links, shims and virtual environments.
	Path string
	// Version is for people, for example "3.11.7".
	Version string
	// Prefix is the folder that the installation lives in.
	Prefix string
	// Mounts is what a process of it needs to see of the file system, sorted by At: the binary, the standard library and the
	// shared libraries of both with the loader.
	Mounts []Mount
	// Hidden are folders inside Mounts that no process needs: the installed packages of the interpreter itself.
	Hidden []string
}

// Mount is a file or folder that a confined process needs.
type Mount struct {
	// From is where it is here, without links; At is the path by which the process looks for it.
	From, At string
	// Dir says that it is a folder.
	Dir bool
}

// question prints what Find wants to know. It runs on every Python that anybody might have, so it uses nothing new.
const question = `
import json, os, sys
info = {"version": list(sys.version_info[:3]), "implementation": getattr(getattr(sys, "implementation", None), "name", "")}
if sys.version_info >= (3, 10):
    import sysconfig
    base = getattr(sys, "_base_executable", None) or sys.executable
    info["path"] = os.path.realpath(base)
    info["prefix"] = sys.base_prefix
    info["virtual"] = sys.prefix != sys.base_prefix
    at = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    info["library"] = sorted({os.path.realpath(p) for p in sys.path if p and os.path.exists(p)}
        | {sysconfig.get_path(name, vars=at) for name in ("stdlib", "platstdlib")})
    info["packages"] = sorted({sysconfig.get_path(name, vars=at) for name in ("purelib", "platlib")})
print(json.dumps(info))
`

type answer struct {
	Version           []int
	Implementation    string
	Path, Prefix      string
	Virtual           bool
	Library, Packages []string
}

// Find asks the interpreter of that name, a path or a name on the PATH, what it is. A virtual environment or a shim leads
// to the binary that is behind it.
func Find(ctx context.Context, name string) (Interpreter, error) {
	a, err := ask(ctx, name)
	if err == nil && a.Virtual {
		a, err = ask(ctx, a.Path) // what stands behind a virtual environment must answer for itself
	}
	if err != nil {
		return Interpreter{}, err
	}
	found := Interpreter{Path: a.Path, Version: dotted(a.Version), Prefix: a.Prefix}
	if err := found.list(a); err != nil {
		return Interpreter{}, fmt.Errorf("files of %s: %w", a.Path, err)
	}
	return found, nil
}

// Minor is the second number of the interpreter's version: compiled packages fit one only.
func Minor(ctx context.Context, name string) (int, error) {
	a, err := ask(ctx, name)
	if err != nil {
		return 0, err
	}
	return a.Version[1], nil
}

func dotted(version []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(version), "[]")), ".")
}

func ask(ctx context.Context, name string) (answer, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %s is not there; install Python %d.%d or later, or set python.interpreter to one", ErrNoPython, name, leastMajor, leastMinor)
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "-I", "-S", "-c", question)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	// A shim looks for its interpreter by way of these.
	for _, v := range []string{"PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "CONDA_PREFIX", "ASDF_DIR", "ASDF_DATA_DIR"} {
		if value, ok := os.LookupEnv(v); ok {
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	if err := cmd.Run(); err != nil {
		return answer{}, fmt.Errorf("%w: %s does not run: %w: %.200q; set python.interpreter to one that does", ErrNoPython, path, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var a answer
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil || len(a.Version) != 3 {
		return answer{}, fmt.Errorf("%w: %s answers %.200q, which no Python does", ErrNoPython, path, stdout.Bytes())
	}
	if a.Version[0] != leastMajor || a.Version[1] < leastMinor {
		return answer{}, fmt.Errorf("%w: %s is Python %s; install %d.%d or later, or set python.interpreter to one", ErrNoPython, path, dotted(a.Version), leastMajor, leastMinor)
	}
	if a.Implementation != "cpython" {
		return answer{}, fmt.Errorf("%w: %s is %s, and only CPython is known to behave the same; set python.interpreter to one", ErrNoPython, path, a.Implementation)
	}
	if !filepath.IsAbs(a.Path) {
		return answer{}, fmt.Errorf("%w: %s does not know where its binary is", ErrNoPython, path)
	}
	return a, nil
}
