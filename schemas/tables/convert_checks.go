package tables

import (
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func (s *Set) evaluationCompleted(ev *event.Event, m *spadepb.EvaluationCompleted) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetNearestDesignedEnv()); err != nil {
		return err
	}
	b := s.table(Evaluations)
	b.id(m.GetRunId())
	b.i64(m.GetPolicyVersion())
	b.str(m.GetSuite())
	b.hex(m.GetSuiteSha256())
	b.str(m.GetTaskId())
	b.str(m.GetCategory())
	b.str(m.GetKind())
	b.u64(m.GetEnvSeed())
	b.i32(m.GetSeedIndex())
	b.f64(m.GetReward())
	b.flag(m.GetSuccess())
	b.strs(m.GetMilestones())
	b.str(m.GetOutcome())
	b.i32(m.GetSteps())
	b.optID(m.GetNearestDesignedEnv())
	b.optF64(m.GetNearestSimilarity(), len(m.GetNearestDesignedEnv()) > 0)
	b.end(ev, s.writer)
	return nil
}

func (s *Set) replayChecked(ev *event.Event, m *spadepb.ReplayChecked) error {
	if err := checkIDs(m.GetRunId(), m.GetRolloutId(), m.GetEnvId()); err != nil {
		return err
	}
	b := s.table(ReplayChecks)
	b.id(m.GetRunId())
	b.id(m.GetRolloutId())
	b.id(m.GetEnvId())
	b.flag(m.GetEqual())
	b.optI32(m.GetFirstDivergentStep(), !m.GetEqual())
	b.str(m.GetCause())
	b.end(ev, s.writer)
	return nil
}

func (s *Set) deadLetter(ev *event.Event, m *spadepb.DeadLetter) error {
	b := s.table(DeadLetters)
	b.str(m.GetTopic())
	b.i32(m.GetPartition())
	b.i64(m.GetOffset())
	b.str(m.GetError())
	b.raw(m.GetPayload())
	b.raw(m.GetKey())
	b.str(m.GetConsumer())
	b.end(ev, s.writer)
	return nil
}
