package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// adopter takes the updates that a run's log holds; *brain is one.
type adopter interface {
	// Adopt makes the policy hold the version that an update led to.
	Adopt(ctx context.Context, u *spadepb.PolicyUpdated) error
}

// runState is what every process that works on a run knows of it: spade.runs and spade.policies, which are read whole.
type runState struct {
	run runs.Run
	log *bus.Client

	done chan struct{} // closed once the run has finished

	mu       sync.Mutex        // guards the following
	closed   []closedIteration // in the order of the log, which with a policy lag need not be theirs
	isClosed map[int32]bool
	finished *spadepb.RunFinished
	updates  map[int64]*spadepb.PolicyUpdated // by from; the first in the log counts. Older ones have lost their checkpoint
	newest   int64                            // newest version
}

// closedIteration is an iteration's summary and when it was seen.
type closedIteration struct {
	summary *spadepb.IterationClosed
	at      time.Time
}

func newRunState(run runs.Run, log *bus.Client) *runState {
	return &runState{
		run: run, log: log, done: make(chan struct{}), isClosed: map[int32]bool{},
		updates: map[int64]*spadepb.PolicyUpdated{}, newest: -1,
	}
}

// stateTopics are what a runState folds.
func stateTopics() []string { return []string{topics.Runs, topics.Policies} }

// read folds what the log holds now and returns where it ended.
func (s *runState) read(ctx context.Context) (bus.Positions, error) {
	at, err := catchUp(ctx, s.log, stateTopics(), s.run.Positions, func(ev event.Event) error { s.add(ev); return nil })
	if err != nil {
		return nil, fmt.Errorf("read the state of run %s: %w", s.run.Name, err)
	}
	return at, nil
}

// follow folds what comes after at until ctx ends, and hands the policy its versions: first the newest that may be asked
// for, then each as it comes. The policy may be nil.
func (s *runState) follow(ctx context.Context, at bus.Positions, policy adopter) error {
	adopt := func(u *spadepb.PolicyUpdated) error {
		if policy == nil || u == nil {
			return nil
		}
		if err := policy.Adopt(ctx, u); err != nil {
			return fmt.Errorf("take over policy version %d: %w", u.GetPolicyTo(), err)
		}
		return nil
	}
	for _, u := range s.recent() {
		if err := adopt(u); err != nil {
			return err
		}
	}
	return s.log.Follow(ctx, stateTopics(), at, func(ev event.Event) error { return adopt(s.add(ev)) })
}

// add folds an event and returns the update that it is, when it counts.
func (s *runState) add(ev event.Event) *spadepb.PolicyUpdated {
	if !topics.OfRun(ev.Key, s.run.ID) {
		return nil
	}
	msg, err := ev.Message()
	if err != nil {
		return nil // the warehouse sink reads the same record and keeps it as a dead letter
	}
	return s.addMessage(msg)
}

func (s *runState) addMessage(msg proto.Message) *spadepb.PolicyUpdated {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := msg.(type) {
	case *spadepb.IterationClosed:
		if !s.isClosed[m.GetIteration()] {
			s.isClosed[m.GetIteration()] = true
			s.closed = append(s.closed, closedIteration{m, time.Now()})
		}
	case *spadepb.RunFinished:
		if s.finished == nil {
			s.finished = m
			close(s.done)
		}
	case *spadepb.PolicyUpdated:
		return s.updated(m)
	}
	return nil
}

// updated notes an update unless it is void: of several from one version the first in the log is the update.
func (s *runState) updated(m *spadepb.PolicyUpdated) *spadepb.PolicyUpdated {
	from := m.GetPolicyFrom()
	if s.updates[from] != nil {
		return nil
	}
	s.updates[from] = m
	for s.updates[s.newest] != nil {
		s.newest++
	}
	// What nobody asks for any more is read from the log again in the rare case that somebody does.
	if old := s.updates[s.newest-int64(s.versions())-1]; old.GetCheckpoint() != nil {
		old.Checkpoint = nil
	}
	return m
}

// versions is how many of the newest policy versions may be asked for.
func (s *runState) versions() int { return int(s.run.Config.GetMaxPolicyLag()) + 1 }

// recent are the updates that led to the newest versions, oldest first.
func (s *runState) recent() []*spadepb.PolicyUpdated {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*spadepb.PolicyUpdated
	for v := max(0, s.newest-int64(s.versions())+1); v <= s.newest; v++ {
		out = append(out, s.updates[v-1])
	}
	return out
}

// look is the run's end, if it has ended, and its closed iterations.
func (s *runState) look() (finished *spadepb.RunFinished, version int64, closed []closedIteration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished, s.newest, s.closed
}

// isDone reports whether all work on an iteration is done and in the log.
func (s *runState) isDone(iteration int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isClosed[iteration]
}

// find reads the update that led to a version from the log.
func (s *runState) find(ctx context.Context, version int64) (found *spadepb.PolicyUpdated, err error) {
	err = s.log.Read(ctx, topics.Policies, s.run.Positions[topics.Policies], nil, func(ev event.Event) error {
		if !topics.OfRun(ev.Key, s.run.ID) {
			return nil
		}
		if msg, err := ev.Message(); err == nil {
			if u, ok := msg.(*spadepb.PolicyUpdated); ok && u.GetPolicyTo() == version {
				found = u
				return errFound
			}
		}
		return nil
	})
	if found != nil {
		return found, nil
	}
	if err == nil {
		err = fmt.Errorf("run %s has none", s.run.Name)
	}
	return nil, fmt.Errorf("find policy version %d: %w", version, err)
}

// errFound ends a reading that has found what it was for.
var errFound = errors.New("found")
