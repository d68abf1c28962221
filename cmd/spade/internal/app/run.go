package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/consumers/coordinator"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/producers/evaluator"
)

// View shows how far a run has come. It may be called concurrently.
type View interface {
	Update(progress.State) error
}

// players is what the roles of a run ask: the policy, the gate, the memory and the documents.
type players struct {
	generator policy.Generator
	model     string
	gate      designer.Gate
	memory    designer.Memory
	documents designer.Documents
	pool      []designer.Pooled // what a fixed designer draws from
}

// Run runs a run from wherever the log says it stands to its end, waits for the warehouse, and sums it up. An
// interrupted run is taken up by calling it again with the same spec.
func (s *Services) Run(
	ctx context.Context, spec runs.Spec, tasks []evaluator.Task, pool []designer.Pooled, b *brain, view View,
) (Summary, error) {
	run, resumed, err := openRun(ctx, s.Bus, spec, s.deployment, s.tier)
	if err != nil {
		return Summary{}, err
	}
	l := s.newLeader(run, tasks, b)
	finished, err := l.isFinished(ctx)
	if err != nil {
		return Summary{}, err
	}
	if !finished {
		if resumed {
			if err := noteResumed(ctx, s.Bus, run); err != nil {
				return Summary{}, err
			}
		}
		l = s.newLeader(run, tasks, b)
		if err := s.runRoles(ctx, run, l, pool, b, view); err != nil {
			return Summary{}, fmt.Errorf("run %s: %w", run.Name, err)
		}
	}
	l.setPhase("waiting for the warehouse")
	if err := s.settle(ctx); err != nil {
		return Summary{}, err
	}
	d, err := Digest(ctx, s.Bus, run)
	if err != nil {
		return Summary{}, err
	}
	suites, err := suiteScores(ctx, s.Bus, run)
	if err != nil {
		return Summary{}, err
	}
	sum := summarise(run, l.coord.Finished(), d, suites)
	_, _, closed := l.look()
	sum.NoRegret = !slices.ContainsFunc(closed, func(c closedIteration) bool { return c.summary.GetRegretsEstimated() > 0 })
	return sum, nil
}

// newLeader makes a leader that has seen nothing.
func (s *Services) newLeader(run runs.Run, tasks []evaluator.Task, b *brain) *leader {
	e := evaluator.New(evaluator.Settings{
		Run: run, Log: s.Bus, Policy: b, Workers: evaluationWorkers{s.Pool}, Overlap: s.memory,
		Source: observe.NewSource("evaluator"), Tasks: tasks, Parallel: s.parallel(),
	})
	set := trainer.Settings{
		Run: run, Learner: b, Source: observe.NewSource("trainer"), Allocator: memory.NewGoAllocator(),
	}
	if s.checkpoints != nil {
		set.Checkpoints = s.checkpoints
	}
	return &leader{
		began: time.Now(), run: run, bus: s.Bus, learner: b, evaluator: e,
		coord: coordinator.New(coordinator.Settings{
			Run: run, Source: observe.NewSource("coordinator"), Episodes: e.Episodes(),
		}),
		trainer: trainer.New(set),
	}
}

// runRoles runs all roles until the leader has finished the run, or one of them fails.
func (s *Services) runRoles(
	ctx context.Context, run runs.Run, l *leader, pool []designer.Pooled, b *brain, view View,
) error {
	roles, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work, roles := errgroup.WithContext(roles)
	name, version := b.Name()
	err := s.startRoles(roles, work, run, &players{
		generator: b, model: name + " " + version, gate: runGate{s.Pool}, memory: s.memory, documents: documents{s.memory}, pool: pool,
	})
	if err != nil {
		stop(err)
		return errors.Join(err, work.Wait())
	}
	work.Go(func() error { return s.show(roles, run, l, view) })
	work.Go(func() error { return s.watchSinks(roles) })
	work.Go(func() error {
		if err := l.lead(roles); err != nil {
			return err
		}
		stop(errFinished)
		return nil
	})
	err = work.Wait()
	if l.coord.Finished() != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	if err == nil {
		err = context.Cause(roles)
	}
	return err
}

// watchSinks ends the roles when a projection ends: the designer would wait for a memory that does not grow any more.
func (s *Services) watchSinks(ctx context.Context) error {
	select {
	case <-s.sinksContext.Done():
		return fmt.Errorf("a projection ended: %w", context.Cause(s.sinksContext))
	case <-ctx.Done():
		return nil
	}
}

// show feeds the view until the roles end.
func (s *Services) show(ctx context.Context, run runs.Run, l *leader, view View) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	began := -1
	for {
		select {
		case <-ctx.Done():
			_ = view.Update(l.state(run, max(0, began)))
			return nil
		case <-tick.C:
		}
		status, phase, _ := l.look()
		if began < 0 && phase == "running" {
			began = status.Iteration
		}
		// A view that cannot be written to is no reason to end a run.
		_ = view.Update(l.state(run, max(0, began)))
	}
}

// isFinished reads the run's log as far as it goes and reports whether the run is over.
func (l *leader) isFinished(ctx context.Context) (bool, error) {
	if _, err := catchUp(ctx, l.bus, ledTopics(), l.run.Positions, l.add); err != nil {
		return false, fmt.Errorf("read the run's log: %w", err)
	}
	return l.coord.Finished() != nil, nil
}

// state is what the view shows.
func (l *leader) state(run runs.Run, began int) progress.State {
	status, phase, closed := l.look()
	st := progress.State{
		Name: run.Name, RunID: run.ID.String(), Phase: phase, Iterations: int(run.Config.GetIterations()),
		Drawn:  run.Config.GetPool() != "",
		Closed: len(closed), Began: began, Policy: max(0, status.Version),
		Designed: status.Designed, Accepted: status.Accepted, Rejected: status.Rejected,
		Rollouts: status.Rollouts, Steps: int64(status.Steps),
		Slots: int(run.Config.GetDesigns()), SlotsDone: status.SlotsDone,
		Expected: status.Expected, ExpectedDone: status.ExpectedDone,
	}
	before := l.began
	for _, c := range closed {
		st.History = append(st.History, iterationState(c, before, run.Config.GetNoHintArm()))
		before = c.at
	}
	return st
}

// iterationState is what the view shows of a closed iteration. before is when the one before it was closed.
func iterationState(c closedIteration, before time.Time, noHinted bool) progress.Iteration {
	m := c.summary
	it := progress.Iteration{
		Iteration: int(m.GetIteration()), Designed: int(m.GetDesigned()), Accepted: int(m.GetAccepted()),
		Rejected: int(m.GetRejected()), Rollouts: int(m.GetRolloutsCompleted()), Steps: m.GetSteps(),
		Plain: m.GetRewardPlain(), Hinted: m.GetRewardHinted(), Regret: m.GetRegret(),
		Unlearnable: m.GetUnlearnableGapShare(),
		NoHinted:    noHinted, NoRegret: m.GetRegretsEstimated() == 0,
	}
	it.Took = c.at.Sub(before)
	return it
}
