package tables

import (
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func (s *Set) rolloutCompleted(ev *event.Event, m *spadepb.RolloutCompleted) error {
	if err := checkIDs(m.GetRunId(), m.GetRolloutId(), m.GetEnvId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetGroupId()); err != nil {
		return err
	}
	b := s.table(Rollouts)
	b.id(m.GetRunId())
	b.id(m.GetRolloutId())
	b.id(m.GetEnvId())
	b.i32(m.GetIteration())
	b.optID(m.GetGroupId())
	b.str(m.GetArm())
	b.u64(m.GetEnvSeed())
	b.i32(m.GetRepeat())
	b.i64(m.GetPolicyVersion())
	b.i32(m.GetStaleness())
	b.f64(m.GetTotalReward())
	b.optF64(m.GetVerifyScore(), m.GetHasVerify())
	b.str(m.GetOutcome())
	b.str(m.GetStopReason())
	b.i32(int32(len(m.GetSteps())))
	b.flag(m.GetTerminated())
	b.flag(m.GetTruncated())
	b.str(m.GetFinalObservation())
	b.hex(m.GetFinalStateHash())
	b.str(m.GetHint())
	b.hex(m.GetHintSha256())
	b.str(m.GetModel())
	b.i32(m.GetPromptTokens())
	b.i32(m.GetCompletionTokens())
	b.flag(ev.Observed.GetNondeterministic())
	b.str(ev.Observed.GetSandboxTier())
	b.str(ev.Observed.GetWorker())
	b.str(m.GetError())
	b.optTime(ev.Observed.GetStartedAt())
	b.optTime(ev.Observed.GetFinishedAt())
	b.end(ev, s.writer)
	s.stepsOf(ev, m)
	return nil
}

func (s *Set) stepsOf(ev *event.Event, m *spadepb.RolloutCompleted) {
	b := s.table(Steps)
	for i, step := range m.GetSteps() {
		b.id(m.GetRunId())
		b.id(m.GetRolloutId())
		b.id(m.GetEnvId())
		b.str(m.GetArm())
		b.i32(int32(i))
		b.str(step.GetObservation())
		b.str(step.GetAction())
		b.str(step.GetToolName())
		b.f64(step.GetReward())
		b.flag(step.GetTerminated())
		b.flag(step.GetTruncated())
		b.f64(step.GetLogprob())
		b.hex(step.GetStateHash())
		b.str(step.GetInfoJson())
		b.end(ev, s.writer)
	}
}

func (s *Set) rolloutDropped(ev *event.Event, m *spadepb.RolloutDropped) error {
	if err := checkIDs(m.GetRunId(), m.GetRolloutId(), m.GetEnvId()); err != nil {
		return err
	}
	b := s.table(DroppedRollouts)
	b.id(m.GetRunId())
	b.id(m.GetRolloutId())
	b.id(m.GetEnvId())
	b.str(m.GetReason())
	b.i32(m.GetStaleness())
	b.i64(m.GetPolicyVersion())
	b.end(ev, s.writer)
	return nil
}
