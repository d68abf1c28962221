package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/coordinator"
	"github.com/seed256f7767/spade/consumers/scorer"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/producers/rollout"
	"github.com/seed256f7767/spade/schemas/topics"
)

// crew is what the roles that this process plays in one run share.
type crew struct {
	s     *Services
	run   runs.Run
	state *runState
	board board
	// generator is the policy as designer and rollout ask it. It may be brain, or a policy worker's.
	generator policy.Generator
	brain     *brain // holds policy versions in this process; nil where a policy worker does
	pool      *gym.Pool
	pooled    []designer.Pooled // what a fixed designer draws from
	tasks     []evaluator.Task
	borrowed  []func(context.Context) error // give back what this crew was given, see giveBack
}

func newCrew(s *Services, run runs.Run) *crew {
	return &crew{s: s, run: run, state: newRunState(run, s.Bus)}
}

// borrow notes how to give back what the crew was given.
func (c *crew) borrow(giveBack func(context.Context) error) {
	c.borrowed = append(c.borrowed, giveBack)
}

// giveBack gives back what the crew was given, the last thing first.
func (c *crew) giveBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var errs []error
	for _, f := range slices.Backward(c.borrowed) {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// use makes a plugin of this process the policy.
func (c *crew) use(b *brain) {
	b.config = c.run.Config.GetPluginConfigJson()
	b.load, b.find, b.versions = c.s.loadCheckpoint, c.state.find, c.state.versions()
	c.brain, c.generator = b, b
}

// work plays roles in the run until it has finished, which returns nil, or ctx ends, or one of them fails. at is how far the
// state has been read.
func (c *crew) work(ctx context.Context, at bus.Positions, roles ...Role) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work, working := errgroup.WithContext(working)
	for _, role := range roles {
		work.Go(func() error { return c.play(working, role) })
	}
	var policy adopter
	if c.brain != nil {
		policy = c.brain
	}
	work.Go(func() error { return ended(working, "follow the run", c.state.follow(working, at, policy)) })
	work.Go(func() error {
		select {
		case <-c.state.done:
			stop(errFinished)
		case <-working.Done():
		}
		return nil
	})
	if slices.ContainsFunc(roles, Role.projects) {
		work.Go(func() error { return c.s.watchSinks(working) })
	}
	err := work.Wait()
	if finished, _, _ := c.state.look(); finished != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled)) {
		c.s.told.Forget(c.run.ID)
		return nil
	}
	if err == nil {
		err = context.Cause(working)
	}
	return err
}

// play plays one role until ctx ends.
func (c *crew) play(ctx context.Context, role Role) error {
	switch role {
	case RoleDesigner:
		return c.design(ctx)
	case RoleRollout:
		r := rollout.New(rollout.Settings{
			Run: c.run, Log: c.s.Bus, Policy: timed{c.generator, c.s.told}, Model: c.model(), Workers: rolloutWorkers{c.pool},
			Source: observe.NewSource("rollout"), Poison: c.s.poison("rollout"), Closed: c.state.isDone, AtOnce: c.pool.Size(),
		})
		defer r.Close()
		return c.consume(ctx, role, []string{topics.Environments}, r.Handler())
	case RoleScorer:
		h := scorer.Handler(c.run, observe.NewSource("scorer"), c.s.Bus, c.s.poison("scorer"))
		return c.consume(ctx, role, []string{topics.Environments, topics.Rollouts}, h)
	case RoleTrainer:
		return ended(ctx, "trainer", elect(ctx, c.s.Bus, c.run, func(ctx context.Context) error { return c.newLeader().lead(ctx) }))
	default:
		return nil // the projections are of all runs, and the state of the run is followed for any role
	}
}

func (c *crew) consume(ctx context.Context, role Role, names []string, h bus.Handler) error {
	return ended(ctx, string(role), c.s.Bus.Consume(ctx, group(string(role), c.run.ID), names, c.run.Positions, h))
}

// design answers design requests, beside a ledger of what the log holds.
func (c *crew) design(ctx context.Context) error {
	ledger := designer.NewLedger(c.run.ID)
	environments := []string{topics.Environments}
	at, err := catchUp(ctx, c.s.Bus, environments, c.run.Positions, ledger.Add)
	if err != nil {
		return ended(ctx, "designer", fmt.Errorf("read designs: %w", err))
	}
	d := designer.New(ledger, designer.Settings{
		Run: c.run, Log: c.s.Bus, Policy: timed{c.generator, c.s.told}, Model: c.model(), Gate: runGate{c.pool},
		Memory: c.s.memory, Documents: documents{c.s.memory, c.s.memory.Corpus(c.run.Documents)}, Source: observe.NewSource("designer"), Poison: c.s.poison("designer"),
		Pool: c.pooled,
	})
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		return ended(ctx, "follow designs", c.s.Bus.Follow(ctx, environments, at, ledger.Add))
	})
	work.Go(func() error { return c.consume(ctx, RoleDesigner, []string{topics.Work}, d.Handler()) })
	return work.Wait()
}

// model is the name and version of the policy's implementation, which the run pins.
func (c *crew) model() string {
	return c.run.Config.GetPlugin() + " " + c.run.Config.GetPluginVersion()
}

// newLeader makes a leader that has seen nothing.
func (c *crew) newLeader() *leader {
	e := evaluator.New(evaluator.Settings{
		Run: c.run, Log: c.s.Bus, Policy: c.brain, Workers: evaluationWorkers{c.pool}, Overlap: c.s.memory,
		Source: observe.NewSource("evaluator"), Tasks: c.tasks, Parallel: c.s.parallelism(),
	})
	set := trainer.Settings{
		Run: c.run, Learner: c.brain, Source: observe.NewSource("trainer"), Allocator: memory.NewGoAllocator(),
	}
	if c.s.checkpoints != nil {
		set.Checkpoints = c.s.checkpoints
	}
	return &leader{
		run: c.run, bus: c.s.Bus, learner: c.brain, evaluator: e, board: &c.board, log: c.s.Log,
		coord: coordinator.New(coordinator.Settings{
			Run: c.run, Source: observe.NewSource("coordinator"), Episodes: e.Episodes(),
		}),
		trainer: trainer.New(set),
	}
}
