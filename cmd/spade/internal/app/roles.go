package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/scorer"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/producers/rollout"
	"github.com/seed256f7767/spade/schemas/topics"
)

// group is the name of a role's consumer group in a run.
func group(role string, run uuid.UUID) string {
	return "spade." + role + "." + run.String()
}

// Working says whether a process works on a run now: whether one is in the consumer group of its episodes. An import has no
// such group.
func Working(log *bus.Client) func(ctx context.Context, run uuid.UUID) (bool, error) {
	return func(ctx context.Context, run uuid.UUID) (bool, error) {
		n, err := log.Members(ctx, group("rollout", run))
		return n > 0, err
	}
}

// poison is where a role keeps what it cannot decode.
func (s *Services) poison(role string) *deadletter.Writer {
	return &deadletter.Writer{Log: s.Bus, Source: observe.NewSource(role), Consumer: role}
}

// startRoles starts the roles that work on a run's environments. They end with ctx.
func (s *Services) startRoles(ctx context.Context, work *errgroup.Group, run runs.Run, p *players) error {
	ledger := designer.NewLedger(run.ID)
	environments := []string{topics.Environments}
	at, err := catchUp(ctx, s.Bus, environments, run.Positions, ledger.Add)
	if err != nil {
		return fmt.Errorf("read designs: %w", err)
	}
	work.Go(func() error {
		return ended(ctx, "follow designs", s.Bus.Follow(ctx, environments, at, ledger.Add))
	})
	d := designer.New(ledger, designer.Settings{
		Run: run, Log: s.Bus, Policy: p.generator, Model: p.model, Gate: p.gate,
		Memory: p.memory, Documents: p.documents, Source: observe.NewSource("designer"), Poison: s.poison("designer"),
		Pool: p.pool,
	})
	r := rollout.New(rollout.Settings{
		Run: run, Log: s.Bus, Policy: p.generator, Model: p.model, Workers: rolloutWorkers{s.Pool},
		Source: observe.NewSource("rollout"), Poison: s.poison("rollout"),
	})
	score := scorer.Handler(run, observe.NewSource("scorer"), s.Bus, s.poison("scorer"))
	consume := func(role string, names []string, h bus.Handler) {
		work.Go(func() error {
			return ended(ctx, role, s.Bus.Consume(ctx, group(role, run.ID), names, run.Positions, h))
		})
	}
	consume("designer", []string{topics.Work}, d.Handler())
	consume("rollout", environments, r.Handler())
	consume("scorer", []string{topics.Environments, topics.Rollouts}, score)
	return nil
}

// ended turns the end of a role into an error unless it was asked to end.
func ended(ctx context.Context, role string, err error) error {
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	return fmt.Errorf("%s: %w", role, err)
}
