package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/consumers/coordinator"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// errFinished ends the leader's reading of the log: the run is finished.
var errFinished = errors.New("run finished")

// ledTopics are what a leader folds.
func ledTopics() []string {
	return []string{
		topics.Runs, topics.Work, topics.Environments, topics.Rollouts,
		topics.Regrets, topics.Policies, topics.Evaluations,
	}
}

// restorer is a learner that can take up where the log says training stands.
type restorer interface {
	trainer.Learner
	// Restore loads the states that updates led to, oldest first; training goes on from the last.
	Restore(ctx context.Context, updates []*spadepb.PolicyUpdated) error
}

// leader folds one run's log and takes its next step: training, evaluation, or what the coordinator asks for.
type leader struct {
	run       runs.Run
	bus       *bus.Client
	learner   restorer
	coord     *coordinator.Coordinator
	trainer   *trainer.Trainer
	evaluator *evaluator.Evaluator
	asked     int64 // version after which training was last asked for; its update is on the way
	evaluated map[int64]bool
	board     *board
	log       *slog.Logger // nil: nothing is told
}

// lead reads the run's log, from its beginning, and leads the run to its end. It returns nil once RunFinished is in the log.
func (l *leader) lead(ctx context.Context) error {
	l.asked, l.evaluated = -2, map[int64]bool{}
	l.board.setPhase("reading the log")
	at, err := catchUp(ctx, l.bus, ledTopics(), l.run.Positions, l.add)
	if err != nil {
		return fmt.Errorf("read the run's log: %w", err)
	}
	if l.coord.Finished() != nil {
		return nil
	}
	if err := l.restore(ctx, l.trainer.Recent(int(l.run.Config.GetMaxPolicyLag())+1)); err != nil {
		return err
	}
	l.board.setPhase("running")
	if err := l.step(ctx); err != nil {
		return unlessFinished(err)
	}
	err = l.bus.Follow(ctx, ledTopics(), at, func(ev event.Event) error {
		if !topics.OfRun(ev.Key, l.run.ID) {
			return nil
		}
		if err := l.add(ev); err != nil {
			return err
		}
		l.tell(ev)
		// What the log says a version is counts, whoever wrote it: another leader may have been faster.
		if ev.Topic == topics.Policies {
			if err := l.restore(ctx, l.trainer.Recent(1)); err != nil {
				return err
			}
		}
		return l.step(ctx)
	})
	return unlessFinished(err)
}

// tell logs how far the run has come.
func (l *leader) tell(ev event.Event) {
	if l.log == nil || ev.Type != closedType {
		return
	}
	if msg, err := ev.Message(); err == nil {
		m := msg.(*spadepb.IterationClosed)
		l.log.Info("iteration closed", "run", l.run.Name, "iteration", m.GetIteration(), "of", l.run.Config.GetIterations(),
			"accepted", m.GetAccepted(), "rollouts", m.GetRolloutsCompleted(), "regret", m.GetRegret())
	}
}

var closedType = event.TypeOf((*spadepb.IterationClosed)(nil))

func unlessFinished(err error) error {
	if errors.Is(err, errFinished) {
		return nil
	}
	return err
}

func (l *leader) restore(ctx context.Context, updates []*spadepb.PolicyUpdated) error {
	if len(updates) == 0 {
		return nil
	}
	if err := l.learner.Restore(ctx, updates); err != nil {
		return fmt.Errorf("restore policy version %d: %w", updates[len(updates)-1].GetPolicyTo(), err)
	}
	return nil
}

// add folds one event; those of other runs and malformed ones, which the sinks dead-letter, are passed over.
func (l *leader) add(ev event.Event) error {
	if !topics.OfRun(ev.Key, l.run.ID) {
		return nil
	}
	msg, err := ev.Message()
	if err == nil {
		err = l.addMessage(msg)
	} else if ev.Topic == topics.Work {
		l.coord.Lost(ev.Key)
	}
	if errors.Is(err, event.ErrMalformed) || errors.Is(err, event.ErrUnknownType) {
		return nil // the warehouse sink reads the same record and keeps it as a dead letter
	}
	return err
}

func (l *leader) addMessage(msg proto.Message) error {
	if err := l.coord.Add(msg); err != nil {
		return err
	}
	l.trainer.Add(msg)
	l.board.setStatus(l.coord.Status())
	return nil
}

// step does what is due. It acts on what it appended only when that comes back from the log.
func (l *leader) step(ctx context.Context) error {
	if l.coord.Finished() != nil {
		return errFinished
	}
	// A version is evaluated before the next one is trained: then the log never holds a version whose evaluation is both
	// missing and out of reach, however a run is interrupted.
	if err := l.evaluate(ctx); err != nil {
		return err
	}
	if err := l.train(ctx); err != nil {
		return err
	}
	events, err := l.coord.Next()
	if err != nil || len(events) == 0 {
		return err
	}
	if err := l.bus.Append(ctx, events...); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if l.coord.Finished() != nil {
		return errFinished
	}
	return nil
}

func (l *leader) train(ctx context.Context) error {
	if l.asked == l.coord.Version() {
		return nil
	}
	events, err := l.trainer.Step(ctx)
	if err != nil || len(events) == 0 {
		return err
	}
	l.asked = l.coord.Version()
	if err := l.bus.Append(ctx, events...); err != nil {
		return fmt.Errorf("append policy update: %w", err)
	}
	return nil
}

// evaluate plays the suites when the policy has reached a version that is evaluated and the log lacks episodes of it.
func (l *leader) evaluate(ctx context.Context) error {
	version := l.coord.Version()
	if version < 0 || l.evaluated[version] || !l.coord.NeedsEvaluation(version) {
		return nil
	}
	l.board.setPhase("evaluating")
	defer l.board.setPhase("running")
	if err := l.evaluator.Evaluate(ctx, version, l.coord.AcceptedBefore(int(version))); err != nil {
		return err
	}
	l.evaluated[version] = true
	return nil
}

// board is where a process's leader, if it leads, shows how far the run is.
type board struct {
	mu     sync.Mutex // guards the following
	status coordinator.Status
	phase  string
}

func (b *board) setStatus(s coordinator.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = s
}

func (b *board) setPhase(phase string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.phase = phase
}

func (b *board) look() (coordinator.Status, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status, b.phase
}

// catchUp folds everything that the topics hold now, beginning at from, and returns where it ended.
func catchUp(
	ctx context.Context, log *bus.Client, names []string, from runs.Positions, add func(event.Event) error,
) (bus.Positions, error) {
	at := bus.Positions{}
	for _, topic := range names {
		end, err := log.HighWatermarks(ctx, topic)
		if err != nil {
			return nil, err
		}
		if err := log.Read(ctx, topic, from[topic], end, add); err != nil {
			return nil, err
		}
		at[topic] = end
	}
	return at, nil
}
