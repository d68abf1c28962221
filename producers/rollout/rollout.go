package rollout

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/deadletter"
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
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

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

// Settings is what a Player works with. All fields but Closed and AtOnce are required.
type Settings struct {
	Run     runs.Run
	Log     producers.Appender
	Policy  policy.Generator
	Model   string
	Workers Workers
	Source  *observe.Source
	Poison  *deadletter.Writer
	// Closed reports whether an iteration is closed: all its episodes are in the log, and nobody needs them again. Nil: none is.
	Closed func(iteration int32) bool
	// AtOnce is how many environments are played side by side. With as many as there are workers, none of those waits: an
	// environment that is played keeps one busy at least. Below 1: one.
	AtOnce int
}

// Player plays the accepted environments of one run. It may be used concurrently, until Close.
type Player struct {
	Settings
	slots chan struct{} // has a token of every environment that is played
	plays *plays
}

// New makes a player.
func New(set Settings) *Player {
	return &Player{Settings: set, slots: make(chan struct{}, max(set.AtOnce, 1)), plays: newPlays()}
}

// Close breaks off what is played and waits for its end. Nothing may be begun afterwards.
func (p *Player) Close() { p.plays.close() }

// admit waits, in the order of the calls, until another environment may be played. It may not when ending is closed first, or
// ctx ends; otherwise the caller calls start.
func (p *Player) admit(ctx context.Context, ending <-chan struct{}) bool {
	select {
	case <-ending:
		return false
	default:
	}
	select {
	case <-ending:
		return false
	case <-ctx.Done():
		return false
	case p.slots <- struct{}{}:
		return true
	}
}

// start begins to play an environment that was admitted and comes from a partition. The next one may be admitted while this one's
// episodes are appended.
func (p *Player) start(
	ctx context.Context, partition int32, design *spadepb.EnvironmentDesigned, ok *spadepb.EnvironmentAccepted,
) *playing {
	return p.plays.start(ctx, uuid.UUID(ok.GetEnvId()), partition, func(ctx context.Context) ([]event.Event, error) {
		defer func() { <-p.slots }()
		return p.episodes(ctx, design, ok)
	})
}

// finish waits for a play and appends its events in (arm, seed index, repeat) order. It returns when all are acknowledged; after an
// error they may be appended again: they keep their ids. Where ctx ends first the play goes on for a while, and whoever is delivered the
// environment again takes it up.
func (p *Player) finish(ctx context.Context, ok *spadepb.EnvironmentAccepted, one *playing) error {
	env := uuid.UUID(ok.GetEnvId())
	select {
	case <-one.done:
	case <-ctx.Done():
		p.plays.leave(env, one, keepFor)
		return fmt.Errorf("roll out environment %s: %w", env, ctx.Err())
	}
	if one.err != nil {
		p.plays.end(env, one)
		return one.err
	}
	if err := p.Log.Append(ctx, one.events...); err != nil {
		p.plays.leave(env, one, keepFor)
		return fmt.Errorf("append rollouts of %s: %w", env, err)
	}
	p.plays.acknowledge(env, one, ok.GetIteration())
	return nil
}

// episodes plays an environment.
func (p *Player) episodes(
	ctx context.Context, design *spadepb.EnvironmentDesigned, ok *spadepb.EnvironmentAccepted,
) ([]event.Event, error) {
	plain, hinted := newArm(ids.ArmPlain, ok.GetExpectedPlain()), newArm(ids.ArmHinted, ok.GetExpectedHinted())
	if err := p.play(ctx, design, ok, plain, hinted); err != nil {
		return nil, fmt.Errorf("roll out environment %s: %w", uuid.UUID(ok.GetEnvId()), err)
	}
	var events []event.Event
	for _, a := range []*arm{plain, hinted} {
		made, err := p.events(ok, a)
		if err != nil {
			return nil, err
		}
		events = append(events, made...)
	}
	return events, nil
}

// arm is the episodes of one arm, a leading part of env seeds × repeats.
type arm struct {
	name string
	n    int
	// started and finished are when the arm's worker had been opened, or refused, and when its last episode had ended: waiting for
	// a free sandbox and for the other arm is no part of an episode, nor is ending the sandbox.
	started, finished time.Time
	// dropped is why none of them was played.
	dropped  string
	episodes []play.Episode
	tier     string
	// again is played beside them; nil: nothing.
	again *again
}

func newArm(name string, n int32) *arm { return &arm{name: name, n: int(n)} }

// play plays both arms in workers of their own: no process holds hinted and plain episodes. Those of Starlark keep nothing
// between two episodes and are played side by side. In Python the hinted arm comes first, and the plain arm's worker is
// made to show that it pays the same.
func (p *Player) play(
	ctx context.Context, design *spadepb.EnvironmentDesigned, ok *spadepb.EnvironmentAccepted, plain, hinted *arm,
) error {
	if design.GetRuntime() != gym.RuntimePython {
		work, armCtx := errgroup.WithContext(ctx)
		for _, a := range []*arm{plain, hinted} {
			work.Go(func() error { return p.playArm(armCtx, design, ok, a) })
		}
		return work.Wait()
	}
	if err := p.playArm(ctx, design, ok, hinted); err != nil {
		return err
	}
	plain.again = newAgain(seed.Stream(p.Run.Seed, seed.Key{
		Purpose: "rollout.again", Iteration: int(ok.GetIteration()), Slot: int(ok.GetSlot()), Attempt: int(ok.GetAttempt()),
	}), ok, hinted.episodes, plain.n)
	if err := p.playArm(ctx, design, ok, plain); err != nil {
		return err
	}
	if plain.dropped == "" && plain.again.differ() {
		void(hinted.episodes)
	}
	return nil
}

func (p *Player) playArm(
	ctx context.Context, design *spadepb.EnvironmentDesigned, ok *spadepb.EnvironmentAccepted, a *arm,
) error {
	if a.n == 0 {
		return nil
	}
	worker, err := p.open(ctx, gym.Source{
		Runtime: design.GetRuntime(), Code: design.GetCode(), Package: design.GetPackageSet(),
	})
	a.started = time.Now()
	a.finished = a.started
	var refused *gym.SourceError
	if errors.As(err, &refused) {
		a.dropped = refused.Error()
		return nil
	}
	if err != nil {
		return fmt.Errorf("open worker: %w", err)
	}
	defer worker.Close()
	defer func() { a.finished = time.Now() }() // before Close, which takes its time and lets the other arm begin
	if a.dropped = unlike(ok, worker.Meta()); a.dropped != "" {
		return nil
	}
	a.tier = worker.Tier()
	if err := p.playIn(ctx, worker, ok, a); err != nil {
		return fmt.Errorf("%s arm: %w", a.name, err)
	}
	return nil
}

// A worker that could not be opened for a reason that may be the machine's is tried again after waits that double. All of them
// together take half a minute.
const (
	firstWait = 250 * time.Millisecond
	openTries = 8
)

// open starts a worker. The gate has accepted the source, so what may come from this machine, such as the end of its memory, is
// no reason yet to drop episodes that another one can play, or has played before this one took over.
func (p *Player) open(ctx context.Context, src gym.Source) (Worker, error) {
	wait := firstWait
	for try := 1; ; try++ {
		worker, err := p.Workers.Open(ctx, src)
		var refused *gym.SourceError
		if !errors.As(err, &refused) || !outside(refused.Fault) || try == openTries {
			return worker, err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
		wait *= 2
	}
}

func (p *Player) playIn(ctx context.Context, env play.Env, ok *spadepb.EnvironmentAccepted, a *arm) error {
	if a.again != nil {
		a.again.worker = env
		env = a.again
	}
	requests := make([]play.Request, a.n)
	for i := range requests {
		requests[i] = p.request(ok, a.name, i)
	}
	var err error
	a.episodes, err = play.Play(ctx, env, play.Config{
		Policy: p.Policy, Version: ok.GetPolicyVersion(), Temperature: p.Run.Config.GetAgentTemperature(),
		MaxSteps: int(ok.GetMaxSteps()),
	}, requests)
	if err != nil || a.again == nil {
		return err
	}
	return a.again.finish(ctx)
}

// events tells what became of an arm.
func (p *Player) events(ok *spadepb.EnvironmentAccepted, a *arm) ([]event.Event, error) {
	if a.dropped != "" {
		return p.dropped(ok, a)
	}
	events := make([]event.Event, len(a.episodes))
	for i := range a.episodes {
		var err error
		if events[i], err = p.event(ok, a, i); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// unlike says how an environment differs from what was accepted; empty: in nothing. Its worker tells what it is anew, and
// how it is judged depends on that.
func unlike(ok *spadepb.EnvironmentAccepted, m wire.Meta) string {
	switch {
	case m.Title != ok.GetTitle():
		return "the environment has another title than the one that was accepted"
	case m.Kind != ok.GetKind():
		return fmt.Sprintf("the environment is of kind %q, and %q was accepted", m.Kind, ok.GetKind())
	case m.MaxSteps != int(ok.GetMaxSteps()):
		return fmt.Sprintf("the environment has max_steps %d, and %d was accepted", m.MaxSteps, ok.GetMaxSteps())
	}
	return ""
}

// dropped ends the episodes of an arm whose source cannot be loaded, or is another, although the gate accepted it: they will
// not be played.
func (p *Player) dropped(ok *spadepb.EnvironmentAccepted, a *arm) ([]event.Event, error) {
	env := uuid.UUID(ok.GetEnvId())
	events := make([]event.Event, a.n)
	for i := range events {
		seedIndex, repeat := i/int(ok.GetRepeats()), i%int(ok.GetRepeats())
		id := ids.Rollout(env, a.name, seedIndex, repeat)
		var err error
		events[i], err = event.New(topics.EnvKey(p.Run.ID, env), id, 0, &spadepb.RolloutDropped{
			RunId: p.Run.ID[:], RolloutId: id[:], EnvId: env[:], Iteration: ok.GetIteration(), Arm: a.name,
			SeedIndex: int32(seedIndex), Repeat: int32(repeat), Reason: a.dropped, PolicyVersion: ok.GetPolicyVersion(),
		}, p.Source.Span(a.started, a.finished))
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

// request is the i-th episode of an arm: seed index i / repeats, repeat i % repeats.
func (p *Player) request(ok *spadepb.EnvironmentAccepted, arm string, i int) play.Request {
	return play.Request{
		EnvSeed: ok.GetEnvSeeds()[i/int(ok.GetRepeats())],
		Hinted:  arm == ids.ArmHinted,
		Random: seed.Stream(p.Run.Seed, seed.Key{
			Purpose: "rollout", Iteration: int(ok.GetIteration()), Slot: int(ok.GetSlot()),
			Attempt: int(ok.GetAttempt()), Arm: arm, Index: i,
		}),
	}
}

// event is the i-th episode of an arm.
func (p *Player) event(ok *spadepb.EnvironmentAccepted, a *arm, i int) (event.Event, error) {
	e, env := &a.episodes[i], uuid.UUID(ok.GetEnvId())
	seedIndex, repeat := i/int(ok.GetRepeats()), i%int(ok.GetRepeats())
	id := ids.Rollout(env, a.name, seedIndex, repeat)
	group := p.group(env, a.name, seedIndex)
	msg := &spadepb.RolloutCompleted{
		RunId: p.Run.ID[:], RolloutId: id[:], EnvId: env[:], Iteration: ok.GetIteration(), Arm: a.name,
		SeedIndex: int32(seedIndex), EnvSeed: ok.GetEnvSeeds()[seedIndex], Repeat: int32(repeat), GroupId: group[:],
		PolicyVersion: ok.GetPolicyVersion(), TotalReward: e.Return, Outcome: e.Outcome, StopReason: e.StopReason,
		Terminated: e.Terminated, Truncated: e.Truncated, Steps: e.Steps,
		FinalObservation: e.FinalObservation, FinalInfoJson: e.FinalInfo,
		InitialStateHash: e.InitialStateHash, FinalStateHash: e.FinalStateHash, Model: p.Model,
		PromptTokens: int32(e.PromptTokens), CompletionTokens: int32(e.CompletionTokens), Error: e.Error,
	}
	if e.Verify != nil {
		msg.HasVerify, msg.VerifyScore = true, *e.Verify
	}
	if a.name == ids.ArmHinted {
		sum := sha256.Sum256([]byte(e.Hint))
		msg.Hint, msg.HintSha256 = e.Hint, sum[:]
	}
	obs := p.Source.Span(a.started, a.finished)
	obs.SandboxTier = a.tier
	obs.Nondeterministic = e.Nondeterministic
	return event.New(topics.EnvKey(p.Run.ID, env), id, 0, msg, obs)
}

// group is the set of episodes that an episode's return is compared with.
func (p *Player) group(env uuid.UUID, arm string, seedIndex int) uuid.UUID {
	if p.Run.Config.GetGroup() == "env" {
		return ids.Group(env, arm, -1)
	}
	return ids.Group(env, arm, seedIndex)
}
