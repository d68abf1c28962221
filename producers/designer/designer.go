package designer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/producers"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Settings is what a Designer works with. All fields but Pool are required.
type Settings struct {
	Run       runs.Run
	Log       producers.Appender
	Policy    policy.Generator
	Model     string // name and version of the policy's implementation
	Gate      Gate
	Memory    Memory
	Documents Documents
	Source    *observe.Source
	Poison    *deadletter.Writer
	Pool      []Pooled // designer fixed:POOL: what slots are filled with; empty: the policy designs
}

// Designer answers the design requests of one run. It may be used concurrently.
type Designer struct {
	Settings
	ledger *Ledger
}

// New makes a designer that reads from ledger what the log holds already.
func New(ledger *Ledger, set Settings) *Designer {
	return &Designer{Settings: set, ledger: ledger}
}

// Design takes one slot from its request to its end: an accepted design, or the rejection of the last attempt. It
// returns when all of it is acknowledged; an error means that the slot is unfinished and Design must be called again.
func (d *Designer) Design(ctx context.Context, req *spadepb.DesignRequested) error {
	return d.design(ctx, ctx, req)
}

// design is Design with a context of its own for what only waits for others, which may end earlier.
func (d *Designer) design(ctx, waiting context.Context, req *spadepb.DesignRequested) error {
	if len(d.Pool) > 0 {
		if err := d.draw(ctx, req); err != nil {
			return fmt.Errorf("fill iteration %d slot %d: %w", req.GetIteration(), req.GetSlot(), err)
		}
		return nil
	}
	previous := attempt{}
	for i := range int(max(1, d.Run.Config.GetMaxAttempts())) {
		done, next, err := d.attempt(ctx, waiting, req, i, previous)
		if err != nil {
			return fmt.Errorf("design iteration %d slot %d attempt %d: %w", req.GetIteration(), req.GetSlot(), i, err)
		}
		if done {
			return nil
		}
		previous = next
	}
	return nil
}

// attempt is one design and its verdict.
type attempt struct {
	env      uuid.UUID
	designed *spadepb.EnvironmentDesigned
	rejected *spadepb.EnvironmentRejected
}

// attempt makes the i-th attempt at a slot, or as much of it as the log lacks. done says that the slot has ended.
func (d *Designer) attempt(
	ctx, waiting context.Context, req *spadepb.DesignRequested, i int, previous attempt,
) (done bool, next attempt, err error) {
	run := d.Run.ID
	env := ids.Env(run, int(req.GetIteration()), int(req.GetSlot()), i)
	known := d.ledger.Get(env)
	next = attempt{env: env, designed: known.Designed, rejected: known.Rejected}
	if known.Accepted {
		return true, next, nil
	}
	if known.Rejected != nil {
		return known.Rejected.GetLastAttempt(), next, nil
	}
	if next.designed == nil {
		if err = d.generate(ctx, waiting, req, env, i, previous); err != nil {
			return false, next, err
		}
		// Another process may have answered too, and a policy need not say the same twice: what is judged is the first record.
		if next.designed, err = d.ledger.waitDesigned(ctx, env); err != nil {
			return false, next, err
		}
	}
	verdict, err := d.judge(ctx, waiting, next.designed)
	if err != nil {
		return false, next, err
	}
	// The same of the verdict, as far as it has been read.
	if known = d.ledger.Get(env); known.Accepted || known.Rejected != nil {
		next.rejected = known.Rejected
		return known.Accepted || known.Rejected.GetLastAttempt(), next, nil
	}
	next.rejected = verdict.rejected
	obs := d.Source.Stamp(verdict.started)
	obs.SandboxTier, obs.Nondeterministic = verdict.report.Tier, verdict.report.Nondeterministic
	return verdict.accepted() || verdict.rejected.GetLastAttempt(), next, d.append(ctx, env, verdict.message(), obs)
}

// generate asks the policy for an environment's source and appends what it answered.
func (d *Designer) generate(
	ctx, waiting context.Context, req *spadepb.DesignRequested, env uuid.UUID, i int, previous attempt,
) error {
	started := time.Now()
	key := seed.Key{Iteration: int(req.GetIteration()), Slot: int(req.GetSlot()), Attempt: i}
	grounds, err := d.ground(waiting, req, key)
	if err != nil {
		return err
	}
	messages := buildPrompt(d.Run.Config.GetRuntime(), grounds, previous)
	key.Purpose = "design"
	completions, err := d.Policy.Generate(ctx, policy.Designer, req.GetPolicyVersion(), []policy.Prompt{{
		ID:       env.String(),
		Messages: messages,
		Seed:     seed.Derive(d.Run.Seed, key),
		Sampling: policy.Sampling{Temperature: d.Run.Config.GetDesignerTemperature()},
	}})
	if err != nil {
		return fmt.Errorf("generate source: %w", err)
	}
	if len(completions) != 1 {
		return fmt.Errorf("generate source: %d completions for one prompt", len(completions))
	}
	designed := d.describe(req, env, i, completions[0])
	designed.Documents, designed.Recalled = grounds.attributions, grounds.neighbours
	designed.Prompt, designed.PromptSha256 = promptMessages(messages)
	return d.append(ctx, env, designed, d.Source.Stamp(started))
}

// describe is the event of a completion, without what led to it.
func (d *Designer) describe(
	req *spadepb.DesignRequested, env uuid.UUID, i int, c policy.Completion,
) *spadepb.EnvironmentDesigned {
	code := sourceOf(c.Text)
	sum := sha256.Sum256([]byte(code))
	return &spadepb.EnvironmentDesigned{
		RunId:            d.Run.ID[:],
		EnvId:            env[:],
		Iteration:        req.GetIteration(),
		Slot:             req.GetSlot(),
		Attempt:          int32(i),
		DesignGroup:      req.GetDesignGroup(),
		PolicyVersion:    req.GetPolicyVersion(),
		MemoryVersion:    req.GetMemoryVersion(),
		Runtime:          d.Run.Config.GetRuntime(),
		Code:             code,
		CodeSha256:       sum[:],
		TokenIds:         c.TokenIDs,
		Logprobs:         c.Logprobs,
		PromptTokens:     int32(c.PromptTokens),
		CompletionTokens: int32(c.CompletionTokens),
		StopReason:       c.StopReason,
		Model:            d.Model,
	}
}

// append appends one event about an environment.
func (d *Designer) append(ctx context.Context, env uuid.UUID, msg proto.Message, obs *spadepb.Observed) error {
	ev, err := event.New(topics.EnvKey(d.Run.ID, env), env, 0, msg, obs)
	if err != nil {
		return err
	}
	if err := d.Log.Append(ctx, ev); err != nil {
		return fmt.Errorf("append %s: %w", ev.Type, err)
	}
	return nil
}
