package coordinator

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Settings is what a Coordinator works with.
type Settings struct {
	Run    runs.Run
	Source *observe.Source
	// Episodes is the number of evaluation episodes at one policy version; 0 when the run has no suites.
	Episodes int
}

// Coordinator folds one run's log and decides what comes next. It is not safe for concurrent use.
type Coordinator struct {
	Settings
	iterations []*iteration
	version    int64          // newest policy version, -1 for none
	updated    map[int64]bool // versions that an update leads away from
	evaluated  map[int64]map[uuid.UUID]bool
	finished   *spadepb.RunFinished
}

// New makes a coordinator that has seen nothing.
func New(set Settings) *Coordinator {
	c := &Coordinator{Settings: set, version: -1, updated: map[int64]bool{}, evaluated: map[int64]map[uuid.UUID]bool{}}
	for range set.Run.Config.GetIterations() {
		c.iterations = append(c.iterations, newIteration(int(set.Run.Config.GetDesigns())))
	}
	return c
}

// Add folds one event of the run with its decoded payload. Events may come in any order and more than once.
func (c *Coordinator) Add(msg proto.Message) error {
	switch m := msg.(type) {
	case *spadepb.PolicyUpdated:
		c.addUpdate(m)
	case *spadepb.EvaluationCompleted:
		c.addEvaluation(m)
	case *spadepb.RunFinished:
		c.finished = m
	case interface{ GetIteration() int32 }:
		k := int(m.GetIteration())
		if k < 0 || k >= len(c.iterations) {
			return fmt.Errorf("fold %T of iteration %d in a run of %d: %w", msg, k, len(c.iterations), event.ErrMalformed)
		}
		c.iterations[k].add(msg)
	}
	return nil
}

// addUpdate takes the newest version from the updates that lead to it one by one, as all do that follow the policies. One that jumps
// leads nowhere.
func (c *Coordinator) addUpdate(m *spadepb.PolicyUpdated) {
	if m.GetPolicyTo() != m.GetPolicyFrom()+1 {
		return
	}
	c.updated[m.GetPolicyFrom()] = true
	for c.updated[c.version] {
		delete(c.updated, c.version)
		c.version++
	}
}

// Lost notes an event of spade.work with that key that cannot be decoded. Nobody answers such a request, so that Next asks
// for its slot again, once: a slot that is asked for twice ends as it would have.
func (c *Coordinator) Lost(key string) {
	for k, it := range c.iterations {
		for slot := range it.requested {
			if topics.EnvKey(c.Run.ID, ids.Env(c.Run.ID, k, slot, 0)) == key && !it.slots[slot] && !it.repeated[slot] {
				it.repeated[slot] = true
				delete(it.requested, slot)
				return
			}
		}
	}
}

func (c *Coordinator) addEvaluation(m *spadepb.EvaluationCompleted) {
	seen := c.evaluated[m.GetPolicyVersion()]
	if seen == nil {
		seen = map[uuid.UUID]bool{}
		c.evaluated[m.GetPolicyVersion()] = seen
	}
	seen[uuid.UUID(m.GetEvaluationId())] = true
}

// Finished is the run's last event, nil while it is not there.
func (c *Coordinator) Finished() *spadepb.RunFinished { return c.finished }

// Version is the newest policy version, -1 before the first.
func (c *Coordinator) Version() int64 { return c.version }

// Next makes the events that the run lacks now and can have. It must be called only when everything that was in the log
// at start has been added. What it returned once it does not return again; when appending fails, begin again with a new
// Coordinator.
func (c *Coordinator) Next() ([]event.Event, error) {
	if c.finished != nil {
		return nil, nil
	}
	var events []event.Event
	for k, it := range c.iterations {
		requests, err := c.requests(k, it)
		if err != nil {
			return nil, err
		}
		events = append(events, requests...)
		if !it.closed && it.complete() {
			ev, err := c.event(ids.Iteration(c.Run.ID, k), it.close(c.Run.ID, k, c.versionFor(k), c.AcceptedBefore(k)))
			if err != nil {
				return nil, err
			}
			events = append(events, ev)
		}
	}
	if c.done() {
		c.finished = c.summary()
		ev, err := c.event(c.Run.ID, c.finished)
		if err != nil {
			return nil, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// requests asks for the slots of an iteration that nobody asked for yet, if it may begin. Its designs come from policy
// version k - lag, whatever newer ones exist: how far training has come must not show in the log.
func (c *Coordinator) requests(k int, it *iteration) ([]event.Event, error) {
	if len(it.requested) == len(it.slots) || !c.mayBegin(k) {
		return nil, nil
	}
	group := ids.DesignGroup(c.Run.ID, k)
	var events []event.Event
	for slot := range it.slots {
		if it.requested[slot] {
			continue
		}
		it.requested[slot] = true
		env := ids.Env(c.Run.ID, k, slot, 0)
		ev, err := event.New(topics.EnvKey(c.Run.ID, env), env, 0, &spadepb.DesignRequested{
			RunId:            c.Run.ID[:],
			EnvId:            env[:],
			Iteration:        int32(k),
			Slot:             int32(slot),
			PolicyVersion:    c.versionFor(k),
			MemoryVersion:    c.AcceptedBefore(k),
			DesignGroup:      group[:],
			ExpectedDesigns:  c.Run.Config.GetDesigns(),
			ExpectedAttempts: int32(c.Run.Attempts(ids.ArmPlain)),
		}, c.Source.Stamp(time.Now()))
		if err != nil {
			return nil, fmt.Errorf("request designs: %w", err)
		}
		events = append(events, ev)
	}
	return events, nil
}

// versionFor is the policy version that iteration k is designed and played with.
func (c *Coordinator) versionFor(k int) int64 {
	return max(0, int64(k)-int64(c.Run.Config.GetMaxPolicyLag()))
}

// mayBegin reports whether iteration k can be asked for: its policy version exists, every earlier slot has ended, so
// that its memory is fixed, and, on-policy, the iteration before is closed.
func (c *Coordinator) mayBegin(k int) bool {
	if c.version < c.versionFor(k) {
		return false
	}
	for i, it := range c.iterations[:k] {
		if !it.designed() {
			return false
		}
		if i == k-1 && c.Run.Config.GetMaxPolicyLag() == 0 && !it.closed {
			return false
		}
	}
	return true
}

// AcceptedBefore is the number of environments accepted in the iterations before k: the memory version of iteration k.
func (c *Coordinator) AcceptedBefore(k int) int64 {
	var n int64
	for _, it := range c.iterations[:k] {
		n += int64(len(it.accepted))
	}
	return n
}

// done reports whether nothing is left: every iteration closed, the last policy there, every evaluation in.
func (c *Coordinator) done() bool {
	for _, it := range c.iterations {
		if !it.closed {
			return false
		}
	}
	if c.version < int64(len(c.iterations)) {
		return false
	}
	for _, v := range EvaluatedVersions(c.Run) {
		if c.NeedsEvaluation(v) {
			return false
		}
	}
	return true
}

// NeedsEvaluation reports whether a policy version is one to be evaluated and the log lacks episodes of it.
func (c *Coordinator) NeedsEvaluation(version int64) bool {
	return slices.Contains(EvaluatedVersions(c.Run), version) && len(c.evaluated[version]) < c.Episodes
}

// EvaluatedVersions are the policy versions at which a run plays its suites: the first, the last, and every eval_every-th
// between them.
func EvaluatedVersions(run runs.Run) []int64 {
	if len(run.Config.GetSuites()) == 0 {
		return nil
	}
	last := int64(run.Config.GetIterations())
	versions := []int64{0}
	if every := int64(run.Config.GetEvalEvery()); every > 0 {
		for v := every; v < last; v += every {
			versions = append(versions, v)
		}
	}
	return append(versions, last)
}

func (c *Coordinator) event(subject uuid.UUID, msg proto.Message) (event.Event, error) {
	ev, err := event.New(topics.RunKey(c.Run.ID), subject, 0, msg, c.Source.Stamp(time.Now()))
	if err != nil {
		return event.Event{}, fmt.Errorf("coordinate: %w", err)
	}
	return ev, nil
}
