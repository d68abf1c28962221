package coordinator

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// iteration is what has been seen of one iteration. Everything is kept by id, so that repeats change nothing, and summed
// only at the end in a fixed order, so that arrival does not show.
type iteration struct {
	slots       []bool // whether the slot has ended
	requested   map[int]bool
	repeated    map[int]bool // slots that were asked for again
	designs     map[uuid.UUID]bool
	accepted    map[uuid.UUID]*spadepb.EnvironmentAccepted
	rejected    map[uuid.UUID]bool
	rollouts    map[uuid.UUID]played
	dropped     map[uuid.UUID]bool
	regrets     map[uuid.UUID]*spadepb.RegretEstimated
	unavailable map[uuid.UUID]bool
	rewarded    map[uuid.UUID]bool
	steps       int // of rollouts
	closed      bool
	summary     *spadepb.IterationClosed
}

// played is what an iteration's summary needs of one episode.
type played struct {
	arm    string
	reward float64
	valid  bool
}

func newIteration(slots int) *iteration {
	return &iteration{
		slots:       make([]bool, slots),
		requested:   map[int]bool{},
		repeated:    map[int]bool{},
		designs:     map[uuid.UUID]bool{},
		accepted:    map[uuid.UUID]*spadepb.EnvironmentAccepted{},
		rejected:    map[uuid.UUID]bool{},
		rollouts:    map[uuid.UUID]played{},
		dropped:     map[uuid.UUID]bool{},
		regrets:     map[uuid.UUID]*spadepb.RegretEstimated{},
		unavailable: map[uuid.UUID]bool{},
		rewarded:    map[uuid.UUID]bool{},
	}
}

func (it *iteration) add(msg proto.Message) {
	switch m := msg.(type) {
	case *spadepb.DesignRequested:
		if slot := int(m.GetSlot()); slot >= 0 && slot < len(it.slots) {
			it.requested[slot] = true
		}
	case *spadepb.EnvironmentDesigned:
		it.designs[uuid.UUID(m.GetEnvId())] = true
	case *spadepb.EnvironmentAccepted:
		putFirst(it.accepted, m.GetEnvId(), m)
		it.end(m.GetSlot())
	case *spadepb.EnvironmentRejected:
		it.rejected[uuid.UUID(m.GetEnvId())] = true
		if m.GetLastAttempt() {
			it.end(m.GetSlot())
		}
	case *spadepb.RolloutCompleted:
		if it.dropped[uuid.UUID(m.GetRolloutId())] {
			return // an episode ends once: one worker dropped what another one, that took over from it, played
		}
		if putFirst(it.rollouts, m.GetRolloutId(), played{
			m.GetArm(), m.GetTotalReward(), outcome.Valid(m.GetOutcome()),
		}) {
			it.steps += len(m.GetSteps())
		}
	case *spadepb.RolloutDropped:
		if _, played := it.rollouts[uuid.UUID(m.GetRolloutId())]; !played {
			it.dropped[uuid.UUID(m.GetRolloutId())] = true
		}
	case *spadepb.RegretEstimated:
		putFirst(it.regrets, m.GetEnvId(), m)
	case *spadepb.RegretUnavailable:
		it.unavailable[uuid.UUID(m.GetEnvId())] = true
	case *spadepb.DesignerRewarded:
		it.rewarded[uuid.UUID(m.GetEnvId())] = true
	case *spadepb.IterationClosed:
		if !it.closed {
			it.closed, it.summary = true, m
		}
	}
}

// putFirst keeps the first value of an id and reports whether this is it.
func putFirst[T any](m map[uuid.UUID]T, id []byte, value T) bool {
	if _, ok := m[uuid.UUID(id)]; ok {
		return false
	}
	m[uuid.UUID(id)] = value
	return true
}

func (it *iteration) end(slot int32) {
	if int(slot) < len(it.slots) && slot >= 0 {
		it.slots[slot] = true
	}
}

// designed reports whether every slot has ended.
func (it *iteration) designed() bool {
	return !slices.Contains(it.slots, false)
}

// complete reports whether every slot has ended, every attempt is paid and every accepted environment has its regret and
// all its episodes.
func (it *iteration) complete() bool {
	if !it.designed() || len(it.regrets)+len(it.unavailable) < len(it.accepted) {
		return false
	}
	if ended := len(it.accepted) + len(it.rejected); len(it.designs) < ended || len(it.rewarded) < ended {
		return false
	}
	expected := 0
	for _, ok := range it.accepted {
		expected += int(ok.GetExpectedPlain() + ok.GetExpectedHinted())
	}
	return len(it.rollouts)+len(it.dropped) >= expected
}

// close makes the iteration's summary. version is the policy that designed and played it, whether or not a design was
// accepted.
func (it *iteration) close(run uuid.UUID, k int, version, acceptedBefore int64) *spadepb.IterationClosed {
	it.closed = true
	s := &spadepb.IterationClosed{
		RunId:              run[:],
		Iteration:          int32(k),
		Designed:           int32(len(it.designs)),
		Accepted:           int32(len(it.accepted)),
		Rejected:           int32(len(it.rejected)),
		RolloutsCompleted:  int32(len(it.rollouts)),
		RolloutsDropped:    int32(len(it.dropped)),
		RegretsEstimated:   int32(len(it.regrets)),
		RegretsUnavailable: int32(len(it.unavailable)),
		PolicyVersion:      version,
		AcceptedBefore:     acceptedBefore,
		Steps:              int64(it.steps),
	}
	s.RewardPlain = it.meanReward(ids.ArmPlain)
	s.RewardHinted = it.meanReward(ids.ArmHinted)
	s.Regret, s.UnlearnableGapShare = it.meanRegret()
	it.summary = s
	return s
}

func (it *iteration) meanReward(arm string) float64 {
	var sum float64
	n := 0
	for _, id := range sorted(it.rollouts) {
		if r := it.rollouts[id]; r.valid && r.arm == arm {
			sum += r.reward
			n++
		}
	}
	return sum / float64(max(1, n))
}

// meanRegret is the mean of the chosen estimator over environments, and the share of those with a positive gap that the
// guard refused to pay.
func (it *iteration) meanRegret() (mean, unlearnable float64) {
	gaps, guarded := 0, 0
	for _, id := range sorted(it.regrets) {
		r := it.regrets[id]
		value := Chosen(r)
		mean += value
		if value > 0 {
			gaps++
			if r.GetGuarded() {
				guarded++
			}
		}
	}
	return mean / float64(max(1, len(it.regrets))), float64(guarded) / float64(max(1, gaps))
}

// Chosen is the value of the estimator that pays.
func Chosen(r *spadepb.RegretEstimated) float64 {
	for _, e := range r.GetEstimates() {
		if e.GetEstimator() == r.GetChosen() {
			return e.GetValue()
		}
	}
	return 0
}

func sorted[T any](m map[uuid.UUID]T) []uuid.UUID {
	keys := make([]uuid.UUID, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return keys
}

// summary makes the run's last event from its iterations.
func (c *Coordinator) summary() *spadepb.RunFinished {
	s := &spadepb.RunFinished{
		RunId: c.Run.ID[:], Status: "finished",
		Iterations: int32(len(c.iterations)), PolicyVersion: int64(len(c.iterations)),
	}
	for i, it := range c.iterations {
		closed := it.summary
		s.Designed += int64(closed.GetDesigned())
		s.Accepted += int64(closed.GetAccepted())
		s.Rejected += int64(closed.GetRejected())
		s.Rollouts += int64(closed.GetRolloutsCompleted())
		s.Steps += closed.GetSteps()
		if i == 0 {
			s.FirstRegret, s.FirstRewardPlain = closed.GetRegret(), closed.GetRewardPlain()
		}
		if i == len(c.iterations)-1 {
			s.LastRegret, s.LastRewardPlain = closed.GetRegret(), closed.GetRewardPlain()
		}
	}
	return s
}

// Status is how far a run has come.
type Status struct {
	Iteration  int // the one in work, from 0; the number of iterations when all are closed
	Iterations int
	Designed   int
	Accepted   int
	Rejected   int
	Rollouts   int
	Steps      int
	Version    int64
	// Of the iteration in work: slots that have ended, and the episodes of the environments accepted so far.
	SlotsDone, Expected, ExpectedDone int
	// Of the last closed iteration; nil before the first.
	Last *spadepb.IterationClosed
}

// Status counts what has been folded.
func (c *Coordinator) Status() Status {
	s := Status{Iterations: len(c.iterations), Version: c.version, Iteration: len(c.iterations)}
	for k, it := range c.iterations {
		s.Designed += len(it.designs)
		s.Accepted += len(it.accepted)
		s.Rejected += len(it.rejected)
		s.Rollouts += len(it.rollouts)
		s.Steps += it.steps
		if it.closed {
			s.Last = it.summary
		}
		if !it.closed && k < s.Iteration {
			s.Iteration = k
			s.SlotsDone, s.Expected, s.ExpectedDone = it.progress()
		}
	}
	return s
}

// progress counts the slots that have ended, and the episodes that are expected and that are there.
func (it *iteration) progress() (slots, expected, done int) {
	for _, ended := range it.slots {
		if ended {
			slots++
		}
	}
	for _, ok := range it.accepted {
		expected += int(ok.GetExpectedPlain() + ok.GetExpectedHinted())
	}
	return slots, expected, len(it.rollouts) + len(it.dropped)
}
