package scorer

import (
	"math"
	"testing"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// armFrom makes an arm of rewards by env seed; a reward of 1 counts as solved.
func armFrom(bySeed ...[]float64) arm {
	var a arm
	for i, rewards := range bySeed {
		for _, r := range rewards {
			a = append(a, sample{seedIndex: i, reward: r, solved: r == 1})
		}
	}
	return a
}

func TestEstimators(t *testing.T) {
	plain := armFrom([]float64{0, 1}, []float64{0, 0.5})
	hinted := armFrom([]float64{1, 1}, []float64{1, 0})
	want := map[string]struct {
		value, stderr float64
		pairs         int32
	}{
		// Means .375 and .75; sample variances .2291667 and .25.
		HintGap:       {0.375, math.Sqrt(0.25/4 + 0.22916666666666666/4), 0},
		PairedHintGap: {0.375, math.Sqrt(((0.5-0.375)*(0.5-0.375) + (0.25-0.375)*(0.25-0.375)) / 1 / 2), 2},
		// p = 1/4, K = 4: 3/16 * 4/3.
		Learnability:  {0.25, 0.5 * math.Sqrt(3.0/16/4), 0},
		AntagonistMax: {0.625, 0, 0},
		MaxMC:         {0.625, 0, 0},
	}
	for i, e := range estimate(plain, hinted) {
		if e.GetEstimator() != Estimators()[i] {
			t.Fatalf("estimate %d is %s, want %s", i, e.GetEstimator(), Estimators()[i])
		}
		w := want[e.GetEstimator()]
		if !e.GetAvailable() || !near(e.GetValue(), w.value) || !near(e.GetStderr(), w.stderr) || e.GetNPairs() != w.pairs {
			t.Errorf("%s: got %v, want %+v", e.GetEstimator(), e, w)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestTooFewEpisodesAreNoEstimate(t *testing.T) {
	for name, tc := range map[string]struct {
		plain, hinted arm
		available     map[string]bool
	}{
		"nothing":       {nil, nil, map[string]bool{}},
		"one of each":   {armFrom([]float64{1}), armFrom([]float64{1}), map[string]bool{}},
		"no hinted arm": {armFrom([]float64{1, 0}), nil, map[string]bool{Learnability: true, MaxMC: true}},
		"one common seed": {armFrom([]float64{1, 0}), armFrom([]float64{1, 0}), map[string]bool{
			Learnability: true, MaxMC: true, HintGap: true, AntagonistMax: true,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range estimate(tc.plain, tc.hinted) {
				if e.GetAvailable() != tc.available[e.GetEstimator()] {
					t.Errorf("%s available: %v", e.GetEstimator(), e.GetAvailable())
				}
				if !e.GetAvailable() && (e.GetValue() != 0 || e.GetStderr() != 0) {
					t.Errorf("%s says %v without being available", e.GetEstimator(), e)
				}
			}
		})
	}
}

func payConfig() *spadepb.SemanticConfig {
	return &spadepb.SemanticConfig{
		PayWeights: []*spadepb.Weight{
			{Name: "coverage", Value: 1}, {Name: "novelty", Value: 0.1}, {Name: "regret", Value: 2}, {Name: "validity", Value: 0.5},
		},
		CoverageFloor: 0.25, CoveragePower: 2, HintGuard: true, Estimator: HintGap,
	}
}

func TestPay(t *testing.T) {
	regret := func(value, solved float64, guarded bool) *spadepb.RegretEstimated {
		return &spadepb.RegretEstimated{
			Chosen: HintGap, NHinted: 4, SuccessHinted: solved, Guarded: guarded,
			Estimates: []*spadepb.Estimate{{Estimator: HintGap, Value: value, Available: true}},
		}
	}
	for name, tc := range map[string]struct {
		share, novelty float64
		regret         *spadepb.RegretEstimated
		want           float64
	}{
		"gap and novelty":            {0, 0.5, regret(0.4, 1, false), 0.85},
		"negative gap":               {0, 0, regret(-0.4, 1, false), 0},
		"what the hint cannot solve": {0, 0, regret(0.4, 0, false), 0},
		"a kind at twice the floor":  {0.5, 0, regret(0.4, 1, false), 0.2},
		"guarded":                    {0.5, 0.5, regret(0.4, 1, true), 0.05},
		"unmeasured":                 {0.5, 0.5, nil, 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			ok := &spadepb.EnvironmentAccepted{
				Novelty: tc.novelty, Stats: []*spadepb.Stat{{Name: stats.KindShare, Value: tc.share}},
			}
			got := payAccepted(payConfig(), ok, tc.regret)
			if !near(got.GetReward(), tc.want) || got.GetMeasured() != (tc.regret != nil) {
				t.Errorf("got %v, want %g", got, tc.want)
			}
		})
	}
	if got := payRejected(payConfig()); got.GetReward() != -0.5 {
		t.Errorf("rejected: got %v", got)
	}
}
