package scorer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// result of a complete group: one of the two.
type result struct {
	estimated   *spadepb.RegretEstimated
	unavailable *spadepb.RegretUnavailable
}

func (o result) message() proto.Message {
	if o.estimated != nil {
		return o.estimated
	}
	return o.unavailable
}

// summarise reads a complete group. Its result depends on the set of episodes only, not on their order.
func summarise(config *spadepb.SemanticConfig, g *group) result {
	plain, invalidPlain := armOf(g, ids.ArmPlain)
	hinted, invalidHinted := armOf(g, ids.ArmHinted)
	estimates := estimate(plain, hinted)
	chosen := config.GetEstimator()
	at := slices.Index(Estimators(), chosen)
	ok := g.accepted
	if at < 0 || !estimates[at].GetAvailable() {
		return result{unavailable: &spadepb.RegretUnavailable{
			RunId: ok.GetRunId(), EnvId: ok.GetEnvId(), Iteration: ok.GetIteration(),
			Reason:  unavailableReason(chosen, len(plain), len(hinted), int(ok.GetExpectedHinted())),
			NHinted: int32(len(hinted)), NPlain: int32(len(plain)),
			InvalidHinted: invalidHinted, InvalidPlain: invalidPlain,
			PolicyVersion: ok.GetPolicyVersion(),
		}}
	}
	hidden := hiddenShare(ok)
	return result{estimated: &spadepb.RegretEstimated{
		RunId: ok.GetRunId(), EnvId: ok.GetEnvId(), Iteration: ok.GetIteration(),
		PolicyVersion: ok.GetPolicyVersion(), Chosen: chosen, Estimates: estimates,
		NHinted: int32(len(hinted)), NPlain: int32(len(plain)),
		InvalidHinted: invalidHinted, InvalidPlain: invalidPlain,
		RewardHinted: hinted.mean(), RewardPlain: plain.mean(),
		VarHinted: hinted.variance(), VarPlain: plain.variance(),
		SuccessHinted: hinted.success(), SuccessPlain: plain.success(),
		Learnability: estimates[slices.Index(Estimators(), Learnability)].GetValue(),
		HiddenShare:  hidden,
		Guarded:      config.GetHintGuard() && hidden >= guardShare,
	}}
}

func unavailableReason(chosen string, plain, hinted, expectedHinted int) string {
	if expectedHinted == 0 {
		return fmt.Sprintf("no hinted arm was played, which %s needs", chosen)
	}
	return fmt.Sprintf("%d valid plain and %d valid hinted episodes are too few for %s", plain, hinted, chosen)
}

// armOf is the valid episodes of an arm and the number of those that say nothing about the agent.
func armOf(g *group, name string) (valid arm, invalid int32) {
	var episodes []*spadepb.RolloutCompleted
	for _, t := range g.ends {
		switch {
		case t.completed.GetArm() == name:
			episodes = append(episodes, t.completed)
		case t.dropped.GetArm() == name:
			invalid++
		}
	}
	slices.SortFunc(episodes, func(a, b *spadepb.RolloutCompleted) int {
		return cmp.Or(
			cmp.Compare(a.GetSeedIndex(), b.GetSeedIndex()),
			cmp.Compare(a.GetRepeat(), b.GetRepeat()),
			bytes.Compare(a.GetRolloutId(), b.GetRolloutId()),
		)
	})
	for _, e := range episodes {
		if !outcome.Valid(e.GetOutcome()) {
			invalid++
			continue
		}
		valid = append(valid, sample{int(e.GetSeedIndex()), e.GetTotalReward(), e.GetOutcome() == outcome.Solved})
	}
	return valid, invalid
}

// subject is the accepted or rejected design that a reward is for.
type subject interface {
	GetRunId() []byte
	GetEnvId() []byte
	GetIteration() int32
	GetSlot() int32
	GetAttempt() int32
	GetPolicyVersion() int64
}

// identify says what a reward is for.
func identify(pay *spadepb.DesignerRewarded, run runs.Run, of subject) *spadepb.DesignerRewarded {
	group := ids.DesignGroup(run.ID, int(of.GetIteration()))
	pay.RunId, pay.EnvId = of.GetRunId(), of.GetEnvId()
	pay.Iteration, pay.Slot, pay.Attempt = of.GetIteration(), of.GetSlot(), of.GetAttempt()
	pay.PolicyVersion = of.GetPolicyVersion()
	pay.DesignGroup = group[:]
	return pay
}
