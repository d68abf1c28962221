package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/topics"
)

// openRun opens the run that a user asks for, or takes up the one of that name. It fails with runs.ErrDiffers when a run
// of that name has another seed or configuration.
func openRun(ctx context.Context, log *bus.Client, spec runs.Spec, deployment, tier string) (run runs.Run, resumed bool, err error) {
	if spec.Name == "" {
		if spec.Name, err = runs.DefaultName(spec.Seed, spec.Config); err != nil {
			return run, false, err
		}
	}
	run, err = FindRun(ctx, log, ids.Run(spec.Name).String())
	if err == nil {
		return run, true, runs.Check(run, spec)
	}
	if !errors.Is(err, ErrNoRun) {
		return run, false, err
	}
	positions, err := ends(ctx, log, ledTopics())
	if err != nil {
		return run, false, fmt.Errorf("find the end of the log: %w", err)
	}
	ev, err := runs.Start(spec, observe.NewSource("run"), runs.Setting{Positions: positions, Deployment: deployment, Tier: tier})
	if err != nil {
		return run, false, fmt.Errorf("start run: %w", err)
	}
	if err := log.Append(ctx, ev); err != nil {
		return run, false, fmt.Errorf("start run: %w", err)
	}
	// Two processes may have started it at once: what counts is the first record in the log.
	run, err = FindRun(ctx, log, ids.Run(spec.Name).String())
	if err != nil {
		return run, false, err
	}
	return run, false, runs.Check(run, spec)
}

// ends is the end of every partition of topics.
func ends(ctx context.Context, log *bus.Client, names []string) (runs.Positions, error) {
	at := runs.Positions{}
	for _, topic := range names {
		end, err := log.HighWatermarks(ctx, topic)
		if err != nil {
			return nil, err
		}
		at[topic] = end
	}
	return at, nil
}

// noteResumed records in the log that this process took a run up.
func noteResumed(ctx context.Context, log *bus.Client, run runs.Run) error {
	ev, err := runs.Resume(run, 0, observe.NewSource("run"))
	if err != nil {
		return fmt.Errorf("resume run: %w", err)
	}
	if err := log.Append(ctx, ev); err != nil {
		return fmt.Errorf("resume run: %w", err)
	}
	return nil
}

// allTopics are the names of the catalogue.
func allTopics(partitions int) []string {
	var names []string
	for _, t := range topics.All(partitions) {
		names = append(names, t.Name)
	}
	return names
}
