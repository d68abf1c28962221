package tables

import (
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func (s *Set) regretEstimated(ev *event.Event, m *spadepb.RegretEstimated) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	estimates := m.GetEstimates()
	if len(estimates) == 0 {
		// Without this the event would leave no trace, and be appended again whenever it is read.
		estimates = []*spadepb.Estimate{{Estimator: m.GetChosen()}}
	}
	b := s.table(Regrets)
	for _, e := range estimates {
		b.id(m.GetRunId())
		b.id(m.GetEnvId())
		b.i32(m.GetIteration())
		b.i64(m.GetPolicyVersion())
		b.str(e.GetEstimator())
		b.flag(e.GetEstimator() == m.GetChosen())
		b.i32(m.GetNHinted())
		b.i32(m.GetNPlain())
		b.i32(m.GetInvalidHinted())
		b.i32(m.GetInvalidPlain())
		b.i32(e.GetNPairs())
		b.optF64(m.GetRewardHinted(), m.GetNHinted() > 0)
		b.optF64(m.GetRewardPlain(), m.GetNPlain() > 0)
		b.optF64(m.GetVarHinted(), m.GetNHinted() > 1)
		b.optF64(m.GetVarPlain(), m.GetNPlain() > 1)
		b.optF64(m.GetSuccessHinted(), m.GetNHinted() > 0)
		b.optF64(m.GetSuccessPlain(), m.GetNPlain() > 0)
		b.optF64(e.GetValue(), e.GetAvailable())
		b.optF64(e.GetStderr(), e.GetAvailable())
		b.f64(m.GetLearnability())
		b.f64(m.GetHiddenShare())
		b.flag(m.GetGuarded())
		b.str("")
		b.end(ev, s.writer)
	}
	return nil
}

func (s *Set) regretUnavailable(ev *event.Event, m *spadepb.RegretUnavailable) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	b := s.table(Regrets)
	b.id(m.GetRunId())
	b.id(m.GetEnvId())
	b.i32(m.GetIteration())
	b.i64(m.GetPolicyVersion())
	b.str("")
	b.flag(false)
	b.i32(m.GetNHinted())
	b.i32(m.GetNPlain())
	b.i32(m.GetInvalidHinted())
	b.i32(m.GetInvalidPlain())
	b.i32(0)
	for range 10 { // reward_hinted to hidden_share
		b.null()
	}
	b.flag(false)
	b.str(m.GetReason())
	b.end(ev, s.writer)
	return nil
}

func (s *Set) designerRewarded(ev *event.Event, m *spadepb.DesignerRewarded) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetDesignGroup()); err != nil {
		return err
	}
	b := s.table(DesignerRewards)
	b.id(m.GetRunId())
	b.id(m.GetEnvId())
	b.i32(m.GetIteration())
	b.i64(m.GetPolicyVersion())
	b.f64(m.GetReward())
	b.f64(m.GetRegretPart())
	b.f64(m.GetValidityPart())
	b.f64(m.GetNoveltyPart())
	b.f64(m.GetCoveragePart())
	b.f64(m.GetGuardPart())
	entries(b, m.GetWeights())
	b.flag(m.GetMeasured())
	b.optID(m.GetDesignGroup())
	b.end(ev, s.writer)
	return nil
}
