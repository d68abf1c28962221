package gym

import (
	"context"
	"errors"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
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

// hasSpares reports whether processes of the launch are kept ready: those that are wanted again and again.
func (l launch) hasSpares() bool { return l.pkg == "" && l.around == (Surroundings{}) }

// take returns a fresh, confined process.
func (p *Pool) take(ctx context.Context, l launch) (*proc, error) {
	if l.runtime == RuntimePython {
		if err := p.readyPython(ctx); err != nil {
			return nil, err
		}
	}
	return p.takeUntested(ctx, l)
}

// takeUntested is take without the test that the runtime's sandbox holds, for that test.
func (p *Pool) takeUntested(ctx context.Context, l launch) (*proc, error) {
	if !l.hasSpares() {
		return p.single(ctx, l)
	}
	s, err := p.spawner(l)
	if err != nil {
		return nil, err
	}
	return s.take(ctx)
}

// begin starts a process of the launch as things are now: what a spawner has been told once may have turned out not to work.
func (p *Pool) begin(l launch) (*proc, error) {
	if l.runtime != RuntimePython {
		return p.startStarlark().begin()
	}
	s, err := p.startPython(l)
	if err != nil {
		return nil, err
	}
	return s.begin()
}

// spawner returns the one for a launch with spares and starts it at the first use.
func (p *Pool) spawner(l launch) (*spawner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	s, ok := p.spawners[l]
	if !ok {
		s = newSpawner(func() (*proc, error) { return p.begin(l) }, max(p.cfg.Spares, 0), p.cfg.MaxWorkers)
		s.start()
		p.spawners[l] = s
	}
	return s, nil
}

// single starts one process of a launch without spares.
func (p *Pool) single(ctx context.Context, l launch) (*proc, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	if p.starter == nil {
		p.starter = newStarter()
		go p.starter.run()
	}
	starter := p.starter
	p.mu.Unlock()
	for attempt := 0; ; attempt++ {
		proc, err := starter.start(ctx, func() (*proc, error) { return p.begin(l) })
		if err != nil {
			return nil, err
		}
		err = p.greeted(ctx, proc)
		if err == nil {
			return proc, nil
		}
		var unborn *startError
		if attempt > 0 || !errors.As(err, &unborn) {
			return nil, err
		}
	}
}

// greeted waits for a fresh process to be ready, and closes one that is not.
func (p *Pool) greeted(ctx context.Context, proc *proc) error {
	defer proc.interruptible(ctx)()
	if err := proc.greet(ctx, greetTimeout); err != nil {
		return errors.Join(unborn(err), proc.close())
	}
	return nil
}

// starlarkEnv is a Starlark worker's whole environment. Most workers live for less than the program takes to start, and
// nothing of what its packages set up can be collected; the worker sets the pace of its collector before it loads a source.
func starlarkEnv() []string { return []string{"GOGC=off", "GOMAXPROCS=1"} }

func (p *Pool) startStarlark() start {
	t := p.tierOf(RuntimeStarlark)
	return start{
		argv: p.command, env: starlarkEnv(), layers: t.require & sandbox.Seccomp,
		hello: wire.Hello{
			Require: uint32(t.require), Want: uint32(t.want),
			MemoryBytes: p.cfg.MemoryBytes, CPUSeconds: uint64(p.cfg.CPUTime.Seconds()), OpenFiles: 16,
		},
		memory: p.cfg.MemoryBytes, cpu: p.cfg.CPUTime, frame: p.cfg.Limits.Frame(), log: p.log,
	}
}
