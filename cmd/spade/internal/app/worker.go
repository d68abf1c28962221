package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/plugins/remote"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ErrUnfit says that this process cannot work on a run as it is configured: with another plugin, embedder or suites than
// the run pins its events would be others.
var ErrUnfit = errors.New("this process is not fit for the run")

// Worker is one role of a process that works on runs it did not open.
type Worker struct {
	Services *Services
	Config   config.Loaded
	Role     Role
	// Run is the name or id of the only run to work on. Empty: every run that is not finished, as they come.
	Run string
	// serve makes the policy answer for a run under RolePolicy.
	serve func(run uuid.UUID, b *brain) (withdraw func())
}

// Work does the role's work until ctx ends, which returns nil, or, where the worker has one run only, the run has finished.
func (w *Worker) Work(ctx context.Context) error {
	if w.Role.projects() {
		w.Services.told.Joins()
	}
	if w.Role.remembers() {
		if err := w.Services.openMemory(ctx); err != nil {
			return err
		}
	}
	switch w.Role {
	case RoleMemory:
		return w.Services.projectMemory(ctx)
	case RoleWarehouse:
		return w.Services.projectWarehouse(ctx)
	case RolePolicy:
		return w.servePolicy(ctx, w.followRuns)
	default:
		return w.followRuns(ctx)
	}
}

// followRuns works on runs as spade.runs names them, each in a goroutine of its own.
func (w *Worker) followRuns(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var work sync.WaitGroup
	defer work.Wait()
	known := map[uuid.UUID]*runs.Run{} // the first record of a run counts; nil: finished, or worked on
	at, err := catchUp(ctx, w.Services.Bus, []string{topics.Runs}, nil, func(ev event.Event) error {
		run, finished := w.read(ev)
		if run != nil {
			if _, seen := known[run.ID]; !seen {
				known[run.ID] = run
			}
		}
		if finished != uuid.Nil && w.Run == "" {
			known[finished] = nil
		}
		return nil
	})
	if err != nil {
		return ended(ctx, "find runs", err)
	}
	over := map[uuid.UUID]context.CancelCauseFunc{} // of the runs that are worked on
	begin := func(run runs.Run) {
		lasts, finish := context.WithCancelCause(ctx)
		over[run.ID] = finish
		work.Go(func() { w.attend(ctx, lasts, run, stop) })
	}
	for id, run := range known {
		if run != nil {
			begin(*run)
			known[id] = nil
		}
	}
	if w.Run != "" && len(known) == 0 {
		w.Services.Log.Warn("waiting for a run that is not in the log yet", "run", w.Run)
	}
	err = w.Services.Bus.Follow(ctx, []string{topics.Runs}, at, func(ev event.Event) error {
		run, finished := w.read(ev)
		if run != nil {
			if _, seen := known[run.ID]; !seen {
				known[run.ID] = nil
				begin(*run)
			}
		}
		if finish := over[finished]; finish != nil {
			finish(errFinished)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		stop(fmt.Errorf("follow runs: %w", err))
	}
	work.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return unlessFinished(cause)
	}
	return ended(ctx, "follow runs", err)
}

// read is the run that an event opens, or the id of the one that it finishes, as far as this worker is concerned.
func (w *Worker) read(ev event.Event) (started *runs.Run, finished uuid.UUID) {
	switch ev.Type {
	case event.TypeOf((*spadepb.RunStarted)(nil)):
		run, err := runs.FromEvent(ev)
		if err != nil || run.Started.GetKind() != runs.KindTrain || !w.wants(run.ID) {
			return nil, uuid.Nil
		}
		return &run, uuid.Nil
	case event.TypeOf((*spadepb.RunFinished)(nil)):
		id, err := uuid.Parse(ev.Key)
		if err == nil {
			return nil, id
		}
	}
	return nil, uuid.Nil
}

func (w *Worker) wants(run uuid.UUID) bool {
	return w.Run == "" || w.Run == run.String() || ids.Run(w.Run) == run
}

// attend works on one run until it has finished, which ends lasts, again after a failure. A worker of one run ends with it, and
// when it is not fit for it.
func (w *Worker) attend(ctx, lasts context.Context, run runs.Run, stop context.CancelCauseFunc) {
	log := w.Services.Log.With("run", run.Name, "run_id", run.ID)
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		log.Info("working on a run")
		err := w.work(ctx, lasts, run)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			log.Info("run has finished")
			if w.Run != "" {
				stop(errFinished)
			}
			return
		}
		if errors.Is(err, ErrUnfit) {
			log.Error("run is passed over", "error", err)
			if w.Run != "" {
				stop(err)
			}
			return
		}
		if time.Since(began) > 2*wait {
			wait = time.Second // it worked for a while
		}
		log.Error("work on the run failed, trying again", "error", err, "wait", wait)
		select {
		case <-time.After(wait):
		case <-lasts.Done():
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// work plays the role in a run until it has finished.
func (w *Worker) work(ctx, lasts context.Context, run runs.Run) (err error) {
	c := newCrew(w.Services, run)
	at, err := c.state.read(ctx)
	if err != nil {
		return err
	}
	if finished, _, _ := c.state.look(); finished != nil {
		return nil
	}
	defer func() { err = errors.Join(err, c.giveBack(context.WithoutCancel(ctx))) }()
	if err := w.equip(ctx, lasts, c); err != nil {
		if ctx.Err() == nil && errors.Is(context.Cause(lasts), errFinished) {
			return nil
		}
		return err
	}
	return c.work(ctx, at, w.Role)
}

// equip gives a crew what the role needs. The crew gives it back, also what it was given before an error. A policy worker that does
// not answer is waited for while the run lasts.
func (w *Worker) equip(ctx, lasts context.Context, c *crew) (err error) {
	if w.Role.remembers() {
		if err := w.sameEmbedder(c.run); err != nil {
			return err
		}
	}
	if w.Role == RoleTrainer {
		if c.tasks, err = w.suites(c.run); err != nil {
			return err
		}
	}
	if w.Role.plays() {
		if err := w.startPool(ctx, c); err != nil {
			return err
		}
		c.borrow(c.pool.Shutdown)
	}
	if w.Role.asks() && w.Config.Policy.Addr != "" {
		remote, err := w.remotePolicy(c.run)
		if err != nil {
			return err
		}
		if err := sameRemotePlugin(lasts, c.run, remote); err != nil {
			return errors.Join(err, remote.Close())
		}
		c.generator = remote
		c.borrow(func(context.Context) error { return remote.Close() })
		return nil
	}
	if w.Role == RoleScorer {
		return nil
	}
	b, err := w.Services.launch(ctx, w.Config)
	if err != nil {
		return err
	}
	c.borrow(b.Shutdown)
	if err := samePlugin(c.run, b); err != nil {
		return err
	}
	c.use(b)
	if w.Role == RolePolicy {
		withdraw := w.serve(c.run.ID, b)
		c.borrow(func(context.Context) error { withdraw(); return nil })
	}
	return nil
}

// startPool starts the sandboxed workers of a run, and reads the pool that it draws from.
func (w *Worker) startPool(ctx context.Context, c *crew) (err error) {
	l := w.Config
	l.Run.Runtime, l.Run.MaxStepsBudget = c.run.Config.GetRuntime(), int(c.run.Config.GetMaxStepsBudget())
	l.Run.Designer = c.run.Config.GetDesigner()
	var fixed FixedPool
	if name := l.Run.FixedPool(); name != "" {
		if fixed, err = ReadPool(ctx, w.Services.Bus, name); err != nil {
			return err
		}
		if fixed.Pin != c.run.Config.GetPool() {
			return fmt.Errorf("%w: pool %s is %s here and %s in the run", ErrUnfit, name, fixed.Pin, c.run.Config.GetPool())
		}
	}
	c.pooled = fixed.Environments
	cfg := w.Services.Config
	cfg.Run = l.Run
	c.pool, err = w.Services.startPool(ctx, cfg, fixed.sets())
	return err
}

func (w *Worker) sameEmbedder(run runs.Run) error {
	e := w.Services.Embedder
	if e.Model() == run.Config.GetEmbeddingModel() && e.Dim() == int(run.Config.GetEmbeddingDim()) {
		return nil
	}
	return fmt.Errorf("%w: it embeds with %s (%d dimensions), the run with %s (%d): set embeddings.* as the run's",
		ErrUnfit, e.Model(), e.Dim(), run.Config.GetEmbeddingModel(), run.Config.GetEmbeddingDim())
}

func samePlugin(run runs.Run, b *brain) error {
	name, version := b.Name()
	return isPlugin(run, name, version)
}

// sameRemotePlugin asks the policy worker, and waits for one that is away.
func sameRemotePlugin(ctx context.Context, run runs.Run, c *remote.Client) error {
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	return isPlugin(run, info.Name, info.Version)
}

func isPlugin(run runs.Run, name, version string) error {
	if name == run.Config.GetPlugin() && version == run.Config.GetPluginVersion() {
		return nil
	}
	return fmt.Errorf("%w: its trainer plugin is %s %s, the run's %s %s: set plugin.command", ErrUnfit,
		name, version, run.Config.GetPlugin(), run.Config.GetPluginVersion())
}

// suites loads the held-out tasks of a run, which must be the ones that it pins.
func (w *Worker) suites(run runs.Run) ([]evaluator.Task, error) {
	if len(run.Config.GetSuites()) == 0 {
		return nil, nil
	}
	tasks, names, err := LoadTasks(w.Config.Run.Suites)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(names, run.Config.GetSuites()) {
		return nil, fmt.Errorf("%w: the run evaluates the suites %q, this process has %q: name their folders with --suites",
			ErrUnfit, run.Config.GetSuites(), names)
	}
	return tasks, nil
}
