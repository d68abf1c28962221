package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ErrNoRun says that the log holds no run of that name or id.
var ErrNoRun = errors.New("no such run")

// FindRun finds a run by its name or id. The error wraps ErrNoRun when the log has none.
func FindRun(ctx context.Context, log *bus.Client, nameOrID string) (runs.Run, error) {
	id, err := uuid.Parse(nameOrID)
	if err != nil {
		id = ids.Run(nameOrID)
	}
	var found *runs.Run
	err = log.Read(ctx, topics.Runs, nil, nil, func(ev event.Event) error {
		if found != nil || ev.Key != topics.RunKey(id) || ev.Type != event.TypeOf((*spadepb.RunStarted)(nil)) {
			return nil
		}
		run, err := runs.FromEvent(ev)
		if err != nil {
			return err
		}
		found = &run
		return nil
	})
	if err != nil {
		return runs.Run{}, fmt.Errorf("find run %q: %w", nameOrID, err)
	}
	if found == nil {
		return runs.Run{}, fmt.Errorf("%w: %q; spade runs lists them", ErrNoRun, nameOrID)
	}
	return *found, nil
}

// Digest reads a run's part of the log and collects its digest.
func Digest(ctx context.Context, log *bus.Client, run runs.Run) (*digest.Log, error) {
	d := digest.New(run.ID)
	for _, topic := range ledTopics() {
		err := log.Read(ctx, topic, run.Positions[topic], nil, func(ev event.Event) error {
			d.Add(ev)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("digest of %s: %w", run.Name, err)
		}
	}
	return d, nil
}
