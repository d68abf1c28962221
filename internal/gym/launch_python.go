package gym

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed256f7767/spade/internal/gym/python"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// pythonFiles is what the Python runtime needs on disk: the interpreter, found once, and the worker's own files, written
// once into a folder of this process.
type pythonFiles struct {
	mu          sync.Mutex // guards the following
	dir         string
	interpreter python.Interpreter
}

// ready finds the interpreter and writes the files at the first call. A failure is tried again at the next.
func (f *pythonFiles) ready(ctx context.Context, name string) (python.Interpreter, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir != "" {
		return f.interpreter, f.dir, nil
	}
	found, err := python.Find(ctx, or(name, "python3"))
	if err != nil {
		return python.Interpreter{}, "", err
	}
	dir, err := os.MkdirTemp("", "spade-python-")
	if err != nil {
		return python.Interpreter{}, "", fmt.Errorf("folder for the Python worker: %w", err)
	}
	if err := python.Extract(ctx, dir, found); err != nil {
		_ = os.RemoveAll(dir) // the first error says why
		return python.Interpreter{}, "", err
	}
	f.dir, f.interpreter = dir, found
	return found, dir, nil
}

func (f *pythonFiles) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == "" {
		return nil
	}
	err := os.RemoveAll(f.dir)
	f.dir = ""
	return err
}

// pythonOptions is the worker's only argument, as JSON. See worker/main.py.
type pythonOptions struct {
	// Nonce marks the worker's frames, in hexadecimal.
	Nonce string `json:"nonce"`
	// Layers are the sandbox layers in force, which the worker tells when it is ready.
	Layers uint32 `json:"layers"`
	// Packages is the folder of installed packages that may be imported, or empty.
	Packages     string `json:"packages"`
	ClockShiftNS int64  `json:"clock_shift_ns"`
	SeedGlobals  bool   `json:"seed_globals"`
	FreezeClock  bool   `json:"freeze_clock"`
}

// pythonCommand returns what starts a process of this launch.
func (p *Pool) pythonCommand(ctx context.Context, l launch) (func() (*proc, error), error) {
	packages := ""
	if l.pkg != "" {
		var ok bool
		if packages, ok = p.cfg.Python.Packages[l.pkg]; !ok {
			return nil, &PackageError{Package: l.pkg}
		}
	}
	interpreter, dir, err := p.python.ready(ctx, p.cfg.Python.Interpreter)
	if err != nil {
		return nil, fmt.Errorf("python runtime: %w", err)
	}
	argv := func(nonce wire.Nonce) []string {
		options, _ := json.Marshal(pythonOptions{ // strings and numbers only: it cannot fail
			Nonce: hex.EncodeToString(nonce[:]), Packages: packages, ClockShiftNS: int64(l.around.ClockShift),
			SeedGlobals: l.around.SeedGlobals, FreezeClock: l.around.FreezeClock,
		})
		return append([]string{interpreter.Path}, append(python.Flags(), filepath.Join(dir, "main.py"), string(options))...)
	}
	env := python.Environment(l.around.HashSeed, or(l.around.TimeZone, "UTC"), or(l.around.Locale, "C.UTF-8"))
	return func() (*proc, error) { return startProc(argv, env, p.cfg.MemoryBytes) }, nil
}
