package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
)

// Config is what a user writes.
type Config struct {
	// Listen is the host:port of the server. Empty: none, and nothing is counted.
	Listen string
	// Data is the folder whose free space is told. Empty: none.
	Data string
}

// Settings is what code passes.
type Settings struct {
	Logger *slog.Logger // nil drops what is logged
	// Now is the clock. Nil: the wall clock.
	Now func() time.Time
}

// Log is the log as it is watched; *bus.Client is one.
type Log interface {
	Stats() bus.Stats
	Groups(ctx context.Context) ([]bus.Group, error)
	Ready(ctx context.Context) error
}

var _ Log = (*bus.Client)(nil)

// Process is one process as others watch it. All methods may be called concurrently, and on a nil Process, which watches
// nothing: so who has something to tell need not ask whether somebody listens.
type Process struct {
	cfg      Config
	log      *slog.Logger
	now      func() time.Time
	registry *registry
	gatherer *prometheus.Registry
	health   health
	tally    *tally

	agent, designer             *observe.Histogram // requests for completions, by role of the policy
	agentErrors, designerErrors atomic.Int64
	restarts                    atomic.Int64

	wg   sync.WaitGroup
	http *http.Server
	addr string

	mu       sync.Mutex // guards the following
	watching func()     // ends Watch
}

// New makes a Process that serves nothing yet.
func New(cfg Config, set Settings) *Process {
	p := &Process{
		cfg: cfg, log: set.Logger, now: set.Now, registry: newRegistry(), gatherer: prometheus.NewRegistry(), tally: newTally(),
		agent: observe.NewHistogram(observe.Slow), designer: observe.NewHistogram(observe.Slow),
		watching: func() {},
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.now == nil {
		p.now = time.Now
	}
	p.gatherer.MustRegister(p.registry, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.Add(p.tally.sample)
	p.Add(p.own)
	return p
}

// Start listens. It returns once the endpoints can be asked.
func (p *Process) Start(ctx context.Context) error {
	if p == nil {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.cfg.Listen)
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	p.addr = l.Addr().String()
	p.http = p.server()
	p.wg.Go(func() {
		if err := p.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.log.Error("metrics are not served any more", "error", err)
		}
	})
	p.log.Info("metrics are served", "addr", p.addr)
	return nil
}

// Addr is where Start listens.
func (p *Process) Addr() string {
	if p == nil {
		return ""
	}
	return p.addr
}

// Shutdown ends the server and the watching. It may be called again and without Start.
func (p *Process) Shutdown(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.Unwatch()
	var err error
	if p.http != nil {
		if err = p.http.Shutdown(ctx); err != nil {
			err = errors.Join(err, p.http.Close())
		}
	}
	p.wg.Wait()
	return err
}

// Add has a sampler called for every scrape.
func (p *Process) Add(s Sampler) {
	if p != nil {
		p.registry.add(s)
	}
}

// Drain says that the process ends: it is not ready any more.
func (p *Process) Drain() {
	if p != nil {
		p.health.drain()
	}
}

// Joins says that this process joins a consumer group before it does anything else: until then it is not ready.
func (p *Process) Joins() {
	if p != nil {
		p.health.joins()
	}
}

// Appended counts events that this process appended.
func (p *Process) Appended(events []event.Event) {
	if p != nil {
		p.tally.add(events)
	}
}

// Forget ends the metrics of a run that has finished.
func (p *Process) Forget(run uuid.UUID) {
	if p != nil {
		p.tally.forget(run)
	}
}

// Watch tells of the log and of the consumer groups on it, until Unwatch or Shutdown.
func (p *Process) Watch(log Log) {
	if p == nil {
		return
	}
	p.Add(logSampler(log))
	p.health.watch()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.mu.Lock()
	p.watching = func() { cancel(); <-done }
	p.mu.Unlock()
	go func() {
		defer close(done)
		p.poll(ctx, log)
	}()
}

// Unwatch ends Watch, so that the log may be closed. The counters stay.
func (p *Process) Unwatch() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watching()
}

// poll looks at the log until ctx ends.
func (p *Process) poll(ctx context.Context, log Log) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		p.look(ctx, log)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look asks the log once.
func (p *Process) look(ctx context.Context, log Log) {
	ctx, cancel := context.WithTimeout(ctx, pollEvery)
	defer cancel()
	groups, err := log.Groups(ctx)
	if err == nil {
		err = log.Ready(ctx)
	}
	p.health.saw(p.now(), groups, err, p.registry.sample().activity())
}

// Generated notes a request for completions that began at started. role is agent or designer.
func (p *Process) Generated(role string, started time.Time, err error) {
	if p == nil {
		return
	}
	h, failures := p.agent, &p.agentErrors
	if role == "designer" {
		h, failures = p.designer, &p.designerErrors
	}
	h.Observe(p.now().Sub(started))
	if err != nil {
		failures.Add(1)
	}
}

// PluginRestarted notes that the trainer plugin crashed and was started again.
func (p *Process) PluginRestarted() {
	if p != nil {
		p.restarts.Add(1)
	}
}

// own tells what the process itself counts.
func (p *Process) own(s Sample) {
	s.Distribution(GenerateTime, p.agent.Snapshot(), "agent")
	s.Distribution(GenerateTime, p.designer.Snapshot(), "designer")
	s.Value(GenerateErrors, float64(p.agentErrors.Load()), "agent")
	s.Value(GenerateErrors, float64(p.designerErrors.Load()), "designer")
	s.Value(PluginRestarts, float64(p.restarts.Load()))
	s.Value(BuildInfo, 1, observe.Build())
	p.health.sample(p.now(), s)
	sampleDisk(p.cfg.Data, s)
}

// explain is a reason a line.
func explain(ok string, why []string) string {
	if len(why) == 0 {
		return ok + "\n"
	}
	return strings.Join(why, "\n") + "\n"
}
