package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/internal/bus"
)

// View shows how far a run has come. It may be called concurrently.
type View interface {
	Update(progress.State) error
}

// Run runs a run from wherever the log says it stands to its end, waits for the warehouse, and sums it up. Other processes
// may work on the same run meanwhile.
func (c *crew) Run(ctx context.Context, resumed bool, view View) (Summary, error) {
	s := c.s
	at, err := c.state.read(ctx)
	if err != nil {
		return Summary{}, err
	}
	if finished, _, _ := c.state.look(); finished == nil {
		if resumed {
			if err := noteResumed(ctx, s.Bus, c.run); err != nil {
				return Summary{}, err
			}
		}
		if err := c.workInView(ctx, at, view); err != nil {
			return Summary{}, fmt.Errorf("run %s: %w", c.run.Name, err)
		}
	}
	c.board.setPhase("waiting for the warehouse")
	if err := s.awaitWarehouse(ctx); err != nil {
		return Summary{}, err
	}
	return c.summary(ctx)
}

// summary sums the finished run up.
func (c *crew) summary(ctx context.Context) (Summary, error) {
	d, err := Digest(ctx, c.s.Bus, c.run)
	if err != nil {
		return Summary{}, err
	}
	suites, err := suiteScores(ctx, c.s.Bus, c.run)
	if err != nil {
		return Summary{}, err
	}
	finished, _, closed := c.state.look()
	sum := summarise(c.run, finished, d, suites)
	sum.NoRegret = !slices.ContainsFunc(closed, func(i closedIteration) bool { return i.summary.GetRegretsEstimated() > 0 })
	return sum, nil
}

// workInView plays all roles and feeds the view.
func (c *crew) workInView(ctx context.Context, at bus.Positions, view View) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var showing sync.WaitGroup
	defer showing.Wait()
	defer cancel()
	showing.Go(func() { c.show(ctx, view) })
	return c.work(ctx, at, allRoles()...)
}

// errProjectionEnded ends what goes on beside a projection. Close says why the projection ended.
var errProjectionEnded = errors.New("a projection ended")

// watchSinks ends the roles when a projection ends: the designer would wait for a memory that does not grow any more.
func (s *Services) watchSinks(ctx context.Context) error {
	select {
	case <-s.sinksContext.Done():
		return errProjectionEnded
	case <-ctx.Done():
		return nil
	}
}

// show feeds the view until ctx ends. A view that cannot be written to is no reason to end a run.
func (c *crew) show(ctx context.Context, view View) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	began, opened := -1, time.Now()
	for {
		select {
		case <-ctx.Done():
			_ = view.Update(c.progress(max(0, began), opened))
			return
		case <-tick.C:
		}
		status, phase := c.board.look()
		if began < 0 && phase == "running" {
			began = status.Iteration
		}
		_ = view.Update(c.progress(max(0, began), opened))
	}
}

// progress is what the view shows. The counts within an iteration are known to the leader alone.
func (c *crew) progress(began int, opened time.Time) progress.State {
	status, phase := c.board.look()
	_, version, closed := c.state.look()
	config := c.run.Config
	if phase == "" {
		phase = "waiting for the run's leader, which may be another process"
	}
	st := progress.State{
		Name: c.run.Name, RunID: c.run.ID.String(), Phase: phase, Iterations: int(config.GetIterations()),
		Drawn:  config.GetPool() != "",
		Closed: len(closed), Began: began, Policy: max(0, version),
		Designed: status.Designed, Accepted: status.Accepted, Rejected: status.Rejected,
		Rollouts: status.Rollouts, Steps: int64(status.Steps),
		Slots: int(config.GetDesigns()), SlotsDone: status.SlotsDone,
		Expected: status.Expected, ExpectedDone: status.ExpectedDone,
	}
	before := opened
	for _, i := range closed {
		st.History = append(st.History, iterationState(i, before, config.GetNoHintArm()))
		before = i.at
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
