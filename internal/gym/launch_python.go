package gym

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed256f7767/spade/internal/gym/jail"
	"github.com/seed256f7767/spade/internal/gym/python"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
)

// What a Python worker gets beyond the configured memory, for the interpreter itself and what it maps; and its other limits.
const (
	pythonBase    = 64 << 20
	pythonScratch = 16 << 20
	pythonFiles   = 256
	pythonThreads = 64
	pythonStack   = 8 << 20
)

// Where a Python worker finds its own files and the installed packages that it may import.
const (
	workerFolder  = "/spade"
	packageFolder = "/packages"
)

// startPython returns what starts a process of the launch. The runtime must have been prepared.
func (p *Pool) startPython(l launch) (start, error) {
	packages := ""
	if l.pkg != "" {
		var ok bool
		if packages, ok = p.cfg.Python.Packages[l.pkg]; !ok {
			return start{}, &PackageError{Package: l.pkg}
		}
	}
	found, err := p.python.look(packages)
	if err != nil {
		return start{}, err
	}
	t := p.tierOf(RuntimePython)
	memory := p.cfg.MemoryBytes + pythonBase
	s := start{
		// The stage must not need a thread once it has limits, so nothing may interrupt it.
		env: []string{"GOGC=off", "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1"}, layers: t.require, python: true, memory: memory, cpu: p.cfg.CPUTime,
		hello: wire.Hello{
			Require: uint32(t.require), Want: uint32(t.want),
			MemoryBytes: memory, CPUSeconds: uint64(p.cfg.CPUTime.Seconds()), OpenFiles: pythonFiles,
		},
		frame: p.cfg.Limits.Frame(), log: p.log,
	}
	if found.group != nil {
		s.group = func() (group, error) {
			return found.group(cgroup.Limits{MemoryBytes: memory, Processes: pythonThreads})
		}
	}
	argument, err := found.options(t, packages, l.around).Encode()
	if err != nil {
		return start{}, err
	}
	s.argv = append(p.jail[:len(p.jail):len(p.jail)], argument)
	return s, nil
}

// options are what the first stage becomes and what the interpreter may see.
func (f foundPython) options(t tier, packages string, around Surroundings) jail.Options {
	main, at := filepath.Join(f.dir, python.MainFile), packages
	o := jail.Options{
		Program: f.interpreter.Path, ScratchBytes: pythonScratch, Threads: pythonThreads, StackBytes: pythonStack,
		Env: python.Environment(around.HashSeed, or(around.TimeZone, "UTC"), or(around.Locale, "C.UTF-8")),
	}
	if t.require.Has(sandbox.Root) {
		if path := python.LibraryPath(f.interpreter.Path); path != "" {
			o.Env = append(o.Env, "LD_LIBRARY_PATH="+path)
		}
		main = workerFolder + "/" + python.MainFile
		o.Mounts = append(f.mounts(), sandbox.Mount{From: f.dir, To: workerFolder})
		o.Hidden = f.interpreter.Hidden
		if packages != "" {
			at = packageFolder
			o.Mounts = append(o.Mounts, sandbox.Mount{From: packages, To: at})
		}
	}
	o.Args = append(python.Flags(), main)
	o.Worker = map[string]any{
		"packages": at, "clock_shift_ns": int64(around.ClockShift), "seed_globals": around.SeedGlobals, "freeze_clock": around.FreezeClock,
	}
	return o
}

// customs are what the C library reads to know time zones and locales, where the machine has them.
var customs = []string{"/usr/share/zoneinfo", "/usr/lib/locale"}

func (f foundPython) mounts() []sandbox.Mount {
	mounts := make([]sandbox.Mount, 0, len(f.interpreter.Mounts)+len(f.libraries)+len(customs))
	have := map[string]bool{}
	add := func(from, to string) {
		if !have[to] {
			have[to] = true
			mounts = append(mounts, sandbox.Mount{From: from, To: to})
		}
	}
	for _, list := range [][]python.Mount{f.interpreter.Mounts, f.libraries} {
		for _, m := range list {
			add(m.From, m.At)
		}
	}
	for _, path := range customs {
		if _, err := os.Stat(path); err == nil {
			add(path, path)
		}
	}
	return mounts
}

// readyPython prepares the Python runtime at its first use and tests that its sandbox holds. A failure is tried again at
// the next.
func (p *Pool) readyPython(ctx context.Context) error {
	p.python.mu.Lock()
	defer p.python.mu.Unlock()
	if p.python.tested {
		return nil
	}
	t := p.tierOf(RuntimePython)
	if lacking := t.require &^ sandbox.Supported; lacking != 0 {
		return &SandboxError{Tier: p.tierName(RuntimePython, t.require), Err: &sandbox.MissingError{Layer: lacking, Remedy: elsewhere}}
	}
	if err := p.python.prepare(ctx, p.cfg.Python.Interpreter, p.cfg.Sandbox != SandboxNone, p.log); err != nil {
		return fmt.Errorf("python runtime: %w", err)
	}
	have, err := p.testPython(ctx)
	if err != nil {
		return err
	}
	p.python.tested = true
	p.stands(RuntimePython, p.tierName(RuntimePython, have), have)
	p.log.InfoContext(ctx, "Python environments ready", "sandbox_tier", p.TierOf(RuntimePython), "python", p.python.found.interpreter.Version,
		"layers", have.String(), "control_groups", p.python.groups())
	return nil
}

const elsewhere = "use Linux, for example in a virtual machine; or \"limits\" for sources that you trust"
