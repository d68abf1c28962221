package gym

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// launch is what makes one fresh process as good as another: processes of equal launches stand in for each other.
type launch struct {
	runtime, pkg string
	around       Surroundings
}

func launchOf(src Source, around Surroundings) launch {
	if src.Runtime == RuntimeStarlark {
		return launch{runtime: RuntimeStarlark} // it sees nothing of what is around it
	}
	return launch{runtime: src.Runtime, pkg: src.Package, around: around}
}

// take returns a fresh, confined process.
func (p *Pool) take(ctx context.Context, l launch) (*proc, error) {
	s, err := p.spawner(ctx, l)
	if err != nil {
		return nil, err
	}
	return s.take(ctx)
}

// spawner returns the one for l and starts it at the first use.
func (p *Pool) spawner(ctx context.Context, l launch) (*spawner, error) {
	begin, spares := p.beginStarlark, max(p.cfg.Spares, 0)
	if l.runtime == RuntimePython {
		command, err := p.pythonCommand(ctx, l)
		if err != nil {
			return nil, err
		}
		begin = command
		if l.pkg != "" || l.around != (Surroundings{}) {
			spares = 0
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	s, ok := p.spawners[l]
	if !ok {
		s = newSpawner(begin, spares, p.cfg.MaxWorkers)
		s.start()
		p.spawners[l] = s
	}
	return s, nil
}

// starlarkEnv is a Starlark worker's whole environment. Most workers live for less than the program takes to start, and
// nothing of what its packages set up can be collected; the worker sets the pace of its collector before it loads a source.
func starlarkEnv() []string { return []string{"GOGC=off", "GOMAXPROCS=1"} }

func (p *Pool) beginStarlark() (*proc, error) {
	t, _ := tierOf(p.cfg.Sandbox)
	proc, err := startProc(func(wire.Nonce) []string { return p.command }, starlarkEnv(), p.cfg.MemoryBytes)
	if err != nil {
		return nil, err
	}
	if err := proc.hello(wire.Hello{
		Require: uint32(t.require), Want: uint32(t.want),
		MemoryBytes: p.cfg.MemoryBytes, CPUSeconds: uint64(p.cfg.CPUTime.Seconds()), OpenFiles: 16,
	}); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return proc, nil
}
