package scorer

import (
	"math"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// Names of the weights of the designer's pay.
const (
	weightRegret   = "regret"
	weightValidity = "validity"
	weightNovelty  = "novelty"
	weightCoverage = "coverage"
)

// guardShare is the share of env seeds with a hidden fact from which the guard pays nothing for the gap.
const guardShare = 0.5

// hiddenShare is the share of an environment's env seeds whose solution acts on a fact no observation holds.
func hiddenShare(ok *spadepb.EnvironmentAccepted) float64 { return stat(ok, stats.HiddenShare) }

func stat(ok *spadepb.EnvironmentAccepted, name string) float64 {
	for _, s := range ok.GetStats() {
		if s.GetName() == name {
			return s.GetValue()
		}
	}
	return 0
}

// payAccepted is the pay of an accepted design. regret is nil when it was unavailable: a missing measurement is no
// penalty, and pays nothing.
func payAccepted(
	config *spadepb.SemanticConfig, ok *spadepb.EnvironmentAccepted, regret *spadepb.RegretEstimated,
) *spadepb.DesignerRewarded {
	pay := &spadepb.DesignerRewarded{Weights: config.GetPayWeights()}
	w := func(name string) float64 { return weight(config, name) }
	pay.NoveltyPart = w(weightNovelty) * ok.GetNovelty()
	if regret != nil {
		pay.Measured = true
		pay.RegretPart = w(weightRegret) * gap(regret)
		factor := coverageFactor(config, stat(ok, stats.KindShare))
		pay.CoveragePart = float64(w(weightCoverage) * float64(pay.RegretPart*(factor-1)))
		if regret.GetGuarded() {
			pay.GuardPart = -(pay.RegretPart + pay.CoveragePart)
		}
	}
	pay.Reward = total(pay)
	return pay
}

// payRejected is the pay of a design that the gate refused.
func payRejected(config *spadepb.SemanticConfig) *spadepb.DesignerRewarded {
	pay := &spadepb.DesignerRewarded{Weights: config.GetPayWeights()}
	pay.ValidityPart = -weight(config, weightValidity)
	pay.Reward = total(pay)
	return pay
}

func total(p *spadepb.DesignerRewarded) float64 {
	return p.RegretPart + p.ValidityPart + p.NoveltyPart + p.CoveragePart + p.GuardPart
}

// gap is the chosen regret, clipped at zero, and zero for what the hint does not solve at all.
func gap(r *spadepb.RegretEstimated) float64 {
	if r.GetNHinted() > 0 && r.GetSuccessHinted() == 0 {
		return 0
	}
	for _, e := range r.GetEstimates() {
		if e.GetEstimator() == r.GetChosen() {
			return max(0, e.GetValue())
		}
	}
	return 0
}

// coverageFactor divides pay by a power of the share that designs of this kind hold of the recent ones, once they hold
// more than the floor. It is 1 up to the floor and falls towards 0.
func coverageFactor(config *spadepb.SemanticConfig, share float64) float64 {
	floor := config.GetCoverageFloor()
	if floor <= 0 || share <= floor {
		return 1
	}
	return math.Pow(floor/share, config.GetCoveragePower())
}

func weight(config *spadepb.SemanticConfig, name string) float64 {
	for _, w := range config.GetPayWeights() {
		if w.GetName() == name {
			return w.GetValue()
		}
	}
	return 0
}
