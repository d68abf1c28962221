package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/topics"
)

// elect takes part in the election of a run's leader until ctx ends: whoever holds the one partition of spade.runs in the
// run's trainer group leads, the others stand by. lead is called for each term, with a context that ends with the term;
// returning nil means that nothing is left to lead.
//
// The group only keeps two from doing the same work. What makes a leader that lost its term without knowing it harmless is
// the log: its events have the ids of its successor's, and the first record of an id counts.
func elect(ctx context.Context, log *bus.Client, run runs.Run, lead func(ctx context.Context) error) error {
	h := bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
		return newTerm(ctx, claim, lead), nil
	})
	return log.Consume(ctx, group("trainer", run.ID), []string{topics.Runs}, run.Positions, h)
}

// term is one process's time as leader.
type term struct {
	claim *bus.Claim
	end   context.CancelFunc
	done  chan error // holds what lead returned
}

func newTerm(ctx context.Context, claim *bus.Claim, lead func(context.Context) error) *term {
	ctx, end := context.WithCancel(ctx)
	t := &term{claim: claim, end: end, done: make(chan error, 1)}
	go func() { t.done <- lead(ctx) }()
	return t
}

// Process commits what it is given: the leader reads the log by itself, from its beginning.
func (t *term) Process(_ context.Context, b bus.Batch) error {
	if err := t.failed(); err != nil {
		return err
	}
	return t.claim.Commit(b.Topic, b.Next)
}

// Idle notices that the leader has failed.
func (t *term) Idle(context.Context) error { return t.failed() }

func (t *term) failed() error {
	select {
	case err := <-t.done:
		t.done <- nil // for the end of the term
		if err != nil {
			return fmt.Errorf("lead: %w", err)
		}
	default:
	}
	return nil
}

// Revoked ends the term.
func (t *term) Revoked(context.Context) error {
	t.end()
	if err := <-t.done; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("lead: %w", err)
	}
	return nil
}

// Lost ends the term. What the leader was about is of no interest any more.
func (t *term) Lost() {
	t.end()
	<-t.done
}
