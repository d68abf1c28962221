package gym

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/gym/jail"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// Pool starts and bounds worker processes. It may be used from several goroutines.
type Pool struct {
	cfg     Config
	log     *slog.Logger
	command []string
	jail    []string // starts a worker in Python
	slots   *semaphore.Weighted
	python  pythonRuntime
	meter   *Meter

	// mu guards the following.
	mu       sync.Mutex
	spawners map[launch]*spawner
	starter  *starter
	dog      *watchdog
	tiers    map[string]string // by runtime; what is configured until it has been tested
	layers   map[string]sandbox.Layer
	open     map[*Worker]struct{}
	closed   bool
}

// everyLayer names a tier as it is called where nothing is missing.
const everyLayer = ^sandbox.Layer(0)

// NewPool checks the configuration and does nothing else.
func NewPool(cfg Config, set Settings) (*Pool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("environment workers: %w", err)
	}
	cfg = cfg.withDefaults()
	self, err := selfCommand()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	command := set.Command
	if len(command) == 0 {
		command = []string{self, ChildCommand}
	}
	log := set.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Pool{
		cfg: cfg, log: log, meter: set.Meter, command: command, jail: []string{self, jail.Command},
		tiers: map[string]string{
			RuntimeStarlark: tierName(RuntimeStarlark, cfg.Sandbox, everyLayer), RuntimePython: tierName(RuntimePython, cfg.Sandbox, everyLayer),
		},
		layers: map[string]sandbox.Layer{},
		slots:  semaphore.NewWeighted(int64(cfg.MaxWorkers)), open: map[*Worker]struct{}{},
		spawners: map[launch]*spawner{},
	}, nil
}

// Start begins to keep spare processes and tests that the sandbox holds: a probe from the inside finds every door
// closed, and a source that wants two gigabytes dies of it. A *SandboxError says what is missing; nothing runs then.
func (p *Pool) Start(ctx context.Context) error {
	p.mu.Lock()
	if p.closed || p.dog != nil {
		p.mu.Unlock()
		return fmt.Errorf("%w: the pool has been started or closed before", ErrMisuse)
	}
	p.dog = newWatchdog(p.cfg.MemoryBytes)
	go p.dog.run()
	p.meter.slots(p.cfg.MaxWorkers)
	p.mu.Unlock()

	if err := p.selfTest(ctx); err != nil {
		return errors.Join(err, p.Shutdown(ctx))
	}
	if p.cfg.Sandbox != SandboxFull {
		p.log.WarnContext(ctx, "environment code runs without the full sandbox", "sandbox_tier", p.cfg.Sandbox)
	}
	p.log.InfoContext(ctx, "environment workers ready", "sandbox_tier", p.Tier(), "max_workers", p.cfg.MaxWorkers)
	return nil
}

// Tier returns the name of the sandbox tier of Starlark environments that is in force, as it is recorded of runs and rollouts.
func (p *Pool) Tier() string { return p.TierOf(RuntimeStarlark) }

// TierOf returns the name of the sandbox tier of a runtime. That of Python is known once a worker of it has been opened,
// which is when its sandbox is tested.
func (p *Pool) TierOf(runtime string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tiers[runtime]
}

// stands notes how a runtime is confined, after the test of it.
func (p *Pool) stands(runtime, tier string, have sandbox.Layer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tiers[runtime], p.layers[runtime] = tier, have
}

// Size is MaxWorkers as it is in force.
func (p *Pool) Size() int { return p.cfg.MaxWorkers }

// Limits returns the limits that environments are held to.
func (p *Pool) Limits() Limits { return p.cfg.Limits }

// Open loads a source into a fresh worker. It waits, in the order of the calls, until fewer than MaxWorkers are open; so
// whoever holds one and waits for a second can wait for ever. What is wrong with the source is a *SourceError. The caller
// closes the worker.
func (p *Pool) Open(ctx context.Context, src Source) (*Worker, error) {
	return p.OpenIn(ctx, src, Surroundings{})
}

// OpenIn is Open in other surroundings than the usual ones, which are the zero value.
func (p *Pool) OpenIn(ctx context.Context, src Source, around Surroundings) (*Worker, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	p.meter.wait(1)
	err := p.slots.Acquire(ctx, 1)
	p.meter.wait(-1)
	if err != nil {
		return nil, fmt.Errorf("wait for a worker: %w", err)
	}
	w := &Worker{pool: p, src: src, launch: launchOf(src, around), episodes: map[int]*history{}, lost: map[int]Fault{}}
	if err := p.admit(w); err != nil {
		p.slots.Release(1)
		return nil, err
	}
	if err := w.load(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func checkSource(src Source) error {
	switch {
	case src.Runtime != RuntimeStarlark && src.Runtime != RuntimePython:
		return fmt.Errorf("%w %q", ErrRuntime, src.Runtime)
	case len(src.Code) > MaxCode:
		return &SourceError{Stage: "size", Fault: Fault{
			Outcome: EnvError, Cause: wire.CauseLimit,
			Error: fmt.Sprintf("the source has %d bytes, %d are allowed", len(src.Code), MaxCode),
		}}
	case !utf8.ValidString(src.Code):
		return &SourceError{Stage: "parse", Fault: Fault{
			Outcome: TextEncoding, Cause: wire.CauseEncoding, Error: "the source is not UTF-8",
		}}
	}
	return nil
}

// admit registers a worker, so that Shutdown finds it.
func (p *Pool) admit(w *Worker) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.dog == nil {
		return fmt.Errorf("%w: the pool is not running", ErrClosed)
	}
	p.open[w] = struct{}{}
	p.meter.use(w.launch.runtime, 1)
	return nil
}

func (p *Pool) dismiss(w *Worker) {
	p.mu.Lock()
	delete(p.open, w)
	p.mu.Unlock()
	p.meter.use(w.launch.runtime, -1)
	p.slots.Release(1)
}

// Shutdown ends every process of the pool, open workers included, and waits for them. It may be called again and without
// Start. Processes are killed, not asked, so it needs no deadline.
func (p *Pool) Shutdown(context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	var open []*Worker
	for w := range p.open {
		open = append(open, w)
	}
	spawners, starter, dog := p.spawners, p.starter, p.dog
	p.spawners = nil
	p.mu.Unlock()

	var errs []error
	for _, w := range open {
		errs = append(errs, w.Close())
	}
	for _, s := range spawners {
		errs = append(errs, s.stop())
	}
	if starter != nil {
		starter.stop()
	}
	if dog != nil {
		dog.stop()
		p.meter.slots(-p.cfg.MaxWorkers)
	}
	return errors.Join(append(errs, p.python.remove())...)
}
