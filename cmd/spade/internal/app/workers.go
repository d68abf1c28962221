package app

import (
	"context"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/producers/rollout"
)

// gymWorker is a gym worker whose end no caller can do anything about: a worker that is closed is killed.
type gymWorker struct{ *gym.Worker }

// Close ends the worker.
func (w gymWorker) Close() { _ = w.Worker.Close() }

// Meta is what the environment says about itself.
func (w gymWorker) Meta() wire.Meta { return w.Worker.Meta() }

// rolloutWorkers starts workers for the rollout producer.
type rolloutWorkers struct{ pool *gym.Pool }

// Open starts a worker with a source loaded.
func (p rolloutWorkers) Open(ctx context.Context, src gym.Source) (rollout.Worker, error) {
	w, err := p.pool.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	return gymWorker{w}, nil
}

// evaluationWorkers starts workers for the evaluator.
type evaluationWorkers struct{ pool *gym.Pool }

// Open starts a worker with a source loaded.
func (p evaluationWorkers) Open(ctx context.Context, src gym.Source) (evaluator.Worker, error) {
	w, err := p.pool.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	return gymWorker{w}, nil
}
