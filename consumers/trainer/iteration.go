package trainer

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// iteration is what training one iteration needs, by id: repeats change nothing.
type iteration struct {
	designs  map[uuid.UUID]*spadepb.EnvironmentDesigned
	pay      map[uuid.UUID]*spadepb.DesignerRewarded
	rollouts map[uuid.UUID]*spadepb.RolloutCompleted
	dropped  map[uuid.UUID]bool
	summary  *spadepb.IterationClosed
	closed   bool
}

// paidDesign is a design with what it was paid.
type paidDesign struct {
	design *spadepb.EnvironmentDesigned
	pay    *spadepb.DesignerRewarded
}

func newIteration() *iteration {
	return &iteration{
		designs:  map[uuid.UUID]*spadepb.EnvironmentDesigned{},
		pay:      map[uuid.UUID]*spadepb.DesignerRewarded{},
		rollouts: map[uuid.UUID]*spadepb.RolloutCompleted{},
		dropped:  map[uuid.UUID]bool{},
	}
}

func (it *iteration) add(msg proto.Message) {
	switch m := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		putFirst(it.designs, m.GetEnvId(), m)
	case *spadepb.DesignerRewarded:
		putFirst(it.pay, m.GetEnvId(), m)
	case *spadepb.RolloutCompleted:
		if !it.dropped[uuid.UUID(m.GetRolloutId())] { // else its scores are those of an episode that was dropped
			putFirst(it.rollouts, m.GetRolloutId(), m)
		}
	case *spadepb.RolloutDropped:
		if it.rollouts[uuid.UUID(m.GetRolloutId())] == nil {
			it.dropped[uuid.UUID(m.GetRolloutId())] = true
		}
	case *spadepb.IterationClosed:
		if !it.closed {
			it.closed, it.summary = true, m
		}
	}
}

func putFirst[T any](m map[uuid.UUID]T, id []byte, value T) {
	if _, ok := m[uuid.UUID(id)]; !ok {
		m[uuid.UUID(id)] = value
	}
}

// whole reports whether everything that the iteration's summary counts has arrived: topics are read side by side, so the
// summary may come before what it sums up.
func (it *iteration) whole() bool {
	return len(it.designs) >= int(it.summary.GetDesigned()) &&
		len(it.pay) >= int(it.summary.GetDesigned()) &&
		len(it.rollouts) >= int(it.summary.GetRolloutsCompleted())
}

// trainable are the valid episodes that train the agent, ordered by (slot, attempt, arm, seed index, repeat).
func (it *iteration) trainable(hinted bool) []*spadepb.RolloutCompleted {
	var episodes []*spadepb.RolloutCompleted
	for _, e := range it.rollouts {
		if outcome.Valid(e.GetOutcome()) && (hinted || e.GetArm() == ids.ArmPlain) {
			episodes = append(episodes, e)
		}
	}
	slices.SortFunc(episodes, func(a, b *spadepb.RolloutCompleted) int {
		da, db := it.designs[uuid.UUID(a.GetEnvId())], it.designs[uuid.UUID(b.GetEnvId())]
		return cmp.Or(compareDesigns(da, db), compareEpisodes(a, b))
	})
	return episodes
}

// paid are the designs with their pay, in slot order.
func (it *iteration) paid() []paidDesign {
	var paid []paidDesign
	for env, d := range it.designs {
		if p := it.pay[env]; p != nil {
			paid = append(paid, paidDesign{d, p})
		}
	}
	slices.SortFunc(paid, func(a, b paidDesign) int { return compareDesigns(a.design, b.design) })
	return paid
}
