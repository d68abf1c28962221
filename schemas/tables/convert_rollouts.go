package tables

import (
	"slices"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// rolloutCompleted appends an episode that was decoded whole.
func (s *Set) rolloutCompleted(ev *event.Event, m *spadepb.RolloutCompleted) error {
	views := make([]event.StepView, 0, len(m.GetSteps()))
	for _, step := range m.GetSteps() {
		views = append(views, event.StepView{
			Observation: []byte(step.GetObservation()), InfoJSON: []byte(step.GetInfoJson()), Action: []byte(step.GetAction()),
			ToolName: []byte(step.GetToolName()), StateHash: step.GetStateHash(), Reward: step.GetReward(), Logprob: step.GetLogprob(),
			Terminated: step.GetTerminated(), Truncated: step.GetTruncated(),
		})
	}
	return s.rollout(ev, m, views)
}

// encodedRollout appends an episode from its payload. The message that is returned has no steps.
func (s *Set) encodedRollout(ev *event.Event) (*spadepb.RolloutCompleted, error) {
	if err := s.episode.Decode(ev.Payload); err != nil {
		return nil, err
	}
	s.views = slices.Grow(s.views[:0], len(s.episode.Steps))[:len(s.episode.Steps)]
	for i, step := range s.episode.Steps {
		if err := s.views[i].Decode(step); err != nil {
			return nil, err
		}
	}
	return s.episode.Head, s.begin(ev, s.episode.Head, func() error { return s.rollout(ev, s.episode.Head, s.views) })
}

func (s *Set) rollout(ev *event.Event, m *spadepb.RolloutCompleted, steps []event.StepView) error {
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
	b.i32(int32(len(steps)))
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
	s.stepsOf(ev, m, steps)
	return nil
}

// stepsOf appends the steps of an episode column by column: they are most of what is inserted, and half of their columns say the same
// in each row.
func (s *Set) stepsOf(ev *event.Event, m *spadepb.RolloutCompleted, steps []event.StepView) {
	n := len(steps)
	b := s.table(Steps)
	b.sameID(m.GetRunId(), n)
	b.sameID(m.GetRolloutId(), n)
	b.sameID(m.GetEnvId(), n)
	b.sameStr(m.GetArm(), n)
	b.i32s(n, func(i int) int32 { return int32(i) }) //nolint:gosec // a payload holds no more
	b.raws(n, func(i int) []byte { return steps[i].Observation })
	b.raws(n, func(i int) []byte { return steps[i].Action })
	b.raws(n, func(i int) []byte { return steps[i].ToolName })
	b.f64s(n, func(i int) float64 { return steps[i].Reward })
	b.flags(n, func(i int) bool { return steps[i].Terminated })
	b.flags(n, func(i int) bool { return steps[i].Truncated })
	b.f64s(n, func(i int) float64 { return steps[i].Logprob })
	b.raws(n, func(i int) []byte { return b.inHex(steps[i].StateHash) })
	b.raws(n, func(i int) []byte { return steps[i].InfoJSON })
	b.endRows(ev, s.writer, n)
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
