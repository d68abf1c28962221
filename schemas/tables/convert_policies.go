package tables

import (
	"bytes"
	"fmt"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// roleDesigner is the role whose advantages are of designs, not of episodes.
const roleDesigner = "designer"

func (s *Set) batchBuilt(ev *event.Event, m *spadepb.BatchBuilt) error {
	if err := checkBatch(m); err != nil {
		return err
	}
	b := s.table(Batches)
	b.id(m.GetRunId())
	b.id(m.GetBatchId())
	b.str(m.GetRole())
	b.i32(m.GetIteration())
	b.i64(m.GetPolicyVersion())
	b.i64(m.GetRows())
	b.hex(m.GetSha256())
	b.rolloutIDs(m)
	b.i32(m.GetGroups())
	b.i32(m.GetGroupsWithoutSignal())
	b.end(ev, s.writer)
	s.advantagesOf(ev, m)
	return nil
}

func checkBatch(m *spadepb.BatchBuilt) error {
	if err := checkIDs(m.GetRunId(), m.GetBatchId()); err != nil {
		return err
	}
	for _, a := range m.GetAdvantages() {
		if err := checkIDs(a.GetSubjectId(), a.GetEnvId()); err != nil {
			return err
		}
		if err := checkOptional(a.GetGroupId()); err != nil {
			return err
		}
	}
	return nil
}

// rolloutIDs lists a batch's episodes, each once: the rows of one episode follow each other.
func (b *builder) rolloutIDs(m *spadepb.BatchBuilt) {
	list := b.ids(len(m.GetAdvantages()))
	if m.GetRole() == roleDesigner {
		return
	}
	var last []byte
	for _, a := range m.GetAdvantages() {
		if !bytes.Equal(a.GetSubjectId(), last) {
			last = a.GetSubjectId()
			list.Append(last)
		}
	}
}

func (s *Set) advantagesOf(ev *event.Event, m *spadepb.BatchBuilt) {
	b := s.table(Advantages)
	for _, a := range m.GetAdvantages() {
		b.id(m.GetRunId())
		b.id(m.GetBatchId())
		b.str(m.GetRole())
		if m.GetRole() == roleDesigner {
			b.null()
		} else {
			b.id(a.GetSubjectId())
		}
		b.id(a.GetEnvId())
		b.optID(a.GetGroupId())
		b.str(m.GetEstimator())
		b.f64(m.GetEps())
		b.i32(m.GetDdof())
		b.f64(a.GetReward())
		b.f64(a.GetAdvantage())
		b.end(ev, s.writer)
	}
}

func (s *Set) policyUpdated(ev *event.Event, m *spadepb.PolicyUpdated) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	if err := checkIDs(m.GetBatchIds()...); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	b := s.table(PolicyEvents)
	b.id(m.GetRunId())
	b.i64(m.GetPolicyFrom())
	b.i64(m.GetPolicyTo())
	b.i32(m.GetIteration())
	b.strs(m.GetRoles())
	list := b.ids(len(m.GetBatchIds()))
	for _, id := range m.GetBatchIds() {
		list.Append(id)
	}
	b.str(m.GetTrainer())
	b.str(m.GetTrainerVersion())
	b.str(ev.Observed.GetDevice())
	for _, name := range []string{"loss", "grad_norm", "kl", "entropy", "reward_mean"} {
		b.optF64(find(m.GetMetrics(), name))
	}
	entries(b, m.GetMetrics())
	b.millis(ev.Observed)
	b.hex(m.GetCheckpoint().GetSha256())
	b.i64(m.GetCheckpoint().GetBytes())
	b.str(ev.Observed.GetCheckpointUri())
	b.end(ev, s.writer)
	return nil
}
