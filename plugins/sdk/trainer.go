package sdk

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
)

// Trainer is what a plugin implements. Generate may be called concurrently with everything; Open, Train, Load and
// Shutdown are never called concurrently with each other. Errors should be of the classes of package plugins; any other
// is taken for permanent.
type Trainer interface {
	// Info describes the plugin. It may be called before Open.
	Info() plugins.Info
	// Open configures the trainer from its own settings in the run's semantic config (JSON) and restores the checkpoint, or, with none, makes
	// policy version 0. It returns the loaded version. A checkpoint with Data has been verified.
	Open(ctx context.Context, config string, version int64, ck *plugins.Checkpoint) (int64, error)
	// Generate answers every prompt exactly once through emit, in any order and in pieces of any size. emit is not safe for
	// concurrent use. An answer depends on nothing but role, version and its prompt.
	Generate(ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error
	// Train learns from the batches on top of version from and keeps the outcome loaded as version to.
	Train(ctx context.Context, from, to int64, batches plugins.Batches) (plugins.Result, error)
	// Save returns the checkpoint of a loaded version.
	Save(ctx context.Context, version int64) (plugins.Checkpoint, error)
	// Load restores one more version.
	Load(ctx context.Context, version int64, ck plugins.Checkpoint) error
	// Health reports the state and the loaded versions.
	Health(ctx context.Context) plugins.Health
	// Shutdown is called once, after the calls in progress have ended.
	Shutdown(ctx context.Context) error
}

// Scorer is a Trainer with the capability plugins.CapScore. Score emits batches with one column, logprob (float64), with
// one row for each row that came in, in order.
type Scorer interface {
	Score(ctx context.Context, version int64, batches plugins.Batches, emit func(arrow.Record) error) error
}
