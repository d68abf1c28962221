package evaluator

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/play"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/producers"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Task is one held-out environment.
type Task struct {
	Suite       string
	SuiteSHA256 []byte // of the suite's sources
	ID          string
	Category    string
	Runtime     string
	Code        string
}

// Worker is a sandboxed process with an environment loaded.
type Worker interface {
	play.Env
	Meta() wire.Meta
	Tier() string
	Close()
}

// Workers starts workers. It may be called concurrently.
type Workers interface {
	Open(ctx context.Context, src gym.Source) (Worker, error)
}

// Overlap finds what the designer built nearest to a task, so that a report can tell held-out from seen.
type Overlap interface {
	// Nearest is the environment of scope, designed before iteration, most similar to code, once the projection holds
	// remembered of them; ok is false when there is none.
	Nearest(ctx context.Context, scope []uuid.UUID, iteration int32, remembered int64, code string) (
		env uuid.UUID, similarity float64, ok bool, err error)
}

// Settings is what an Evaluator works with. All fields are required.
type Settings struct {
	Run     runs.Run
	Log     producers.Appender
	Policy  policy.Generator
	Workers Workers
	Overlap Overlap
	Source  *observe.Source
	Tasks   []Task
	// Parallel is how many tasks are played at once.
	Parallel int
}

// Evaluator plays the held-out tasks of one run. It may be used concurrently.
type Evaluator struct{ Settings }

// New makes an evaluator.
func New(set Settings) *Evaluator { return &Evaluator{set} }

// Episodes is the number of episodes of one evaluation.
func (e *Evaluator) Episodes() int { return len(e.Tasks) * int(e.Run.Config.GetEvalSeeds()) }

// Evaluate plays every task with a policy version, in the plain arm, and appends the episodes. remembered is the number
// of environments accepted before the iteration of that number. After an error call it again: events keep their ids.
func (e *Evaluator) Evaluate(ctx context.Context, version, remembered int64) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(max(1, e.Parallel))
	for i := range e.Tasks {
		work.Go(func() error {
			if err := e.task(ctx, version, remembered, i); err != nil {
				return fmt.Errorf("evaluate %s %s at version %d: %w", e.Tasks[i].Suite, e.Tasks[i].ID, version, err)
			}
			return nil
		})
	}
	return work.Wait()
}

func (e *Evaluator) task(ctx context.Context, version, remembered int64, i int) error {
	started := time.Now()
	task := e.Tasks[i]
	worker, err := e.Workers.Open(ctx, gym.Source{Runtime: task.Runtime, Code: task.Code})
	if err != nil {
		return fmt.Errorf("open worker: %w", err)
	}
	defer worker.Close()
	requests := make([]play.Request, e.Run.Config.GetEvalSeeds())
	for s := range requests {
		// The env seeds of a task are the same at every version and in every run: only the policy differs.
		requests[s] = play.Request{
			EnvSeed: seed.Derive(0, seed.Key{Purpose: "evaluation-env/" + task.Suite + "/" + task.ID, Index: s}),
			Random: seed.Stream(e.Run.Seed, seed.Key{
				Purpose: "evaluation/" + task.Suite + "/" + task.ID, Iteration: int(version), Index: s,
			}),
		}
	}
	episodes, err := play.Play(ctx, worker, play.Config{
		Policy: e.Policy, Version: version, Temperature: e.Run.Config.GetAgentTemperature(),
		MaxSteps: worker.Meta().MaxSteps,
	}, requests)
	if err != nil {
		return err
	}
	env, similarity, found, err := e.Overlap.Nearest(ctx, e.Run.Scope, int32(version), remembered, task.Code)
	if err != nil {
		return fmt.Errorf("nearest design: %w", err)
	}
	events := make([]event.Event, len(episodes))
	for s := range episodes {
		msg := e.message(version, task, s, requests[s].EnvSeed, &episodes[s])
		msg.Kind = worker.Meta().Kind
		if found {
			msg.NearestDesignedEnv, msg.NearestSimilarity = env[:], similarity
		}
		obs := e.Source.Stamp(started)
		obs.SandboxTier = worker.Tier()
		obs.Nondeterministic = episodes[s].Nondeterministic
		events[s], err = event.New(topics.RunKey(e.Run.ID), uuid.UUID(msg.GetEvaluationId()), 0, msg, obs)
		if err != nil {
			return err
		}
	}
	if err := e.Log.Append(ctx, events...); err != nil {
		return fmt.Errorf("append evaluations: %w", err)
	}
	return nil
}

func (e *Evaluator) message(
	version int64, task Task, seedIndex int, envSeed uint64, ep *play.Episode,
) *spadepb.EvaluationCompleted {
	id := ids.Evaluation(e.Run.ID, version, task.Suite, task.ID, seedIndex)
	return &spadepb.EvaluationCompleted{
		RunId: e.Run.ID[:], EvaluationId: id[:], PolicyVersion: version,
		Suite: task.Suite, SuiteSha256: task.SuiteSHA256, TaskId: task.ID, Category: task.Category,
		EnvSeed: envSeed, SeedIndex: int32(seedIndex), Reward: ep.Return,
		Success: ep.Outcome == outcome.Solved, Outcome: ep.Outcome, Steps: int32(len(ep.Steps)),
	}
}
