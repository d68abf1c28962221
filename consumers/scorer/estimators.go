package scorer

import (
	"math"
	"slices"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Names of the estimators. Each row of regrets names the one it comes from.
const (
	HintGap       = "hint_gap"        // mean hinted return - mean plain return
	PairedHintGap = "paired_hint_gap" // mean over env seeds of the difference of the arms' means on that seed
	Learnability  = "learnability"    // p(1-p) of plain success, unbiased
	AntagonistMax = "antagonist_max"  // best hinted return - mean plain return, as PAIRED has it: biased upwards
	MaxMC         = "maxmc"           // best return of either arm - mean plain return, without a critic
)

// Estimators lists every estimator, sorted.
func Estimators() []string {
	return []string{AntagonistMax, HintGap, Learnability, MaxMC, PairedHintGap}
}

// sample is one valid episode.
type sample struct {
	seedIndex int
	reward    float64
	solved    bool
}

// arm is the valid episodes of one arm, ordered by (seed index, repeat).
type arm []sample

func (a arm) mean() float64 {
	if len(a) == 0 {
		return 0
	}
	var sum float64
	for _, s := range a {
		sum += s.reward
	}
	return sum / float64(len(a))
}

// variance is the sample variance, ddof 1; 0 for fewer than two episodes.
func (a arm) variance() float64 {
	if len(a) < 2 {
		return 0
	}
	mean := a.mean()
	var sum float64
	for _, s := range a {
		d := s.reward - mean
		sum += float64(d * d)
	}
	return sum / float64(len(a)-1)
}

// success is the share of episodes that were solved.
func (a arm) success() float64 {
	if len(a) == 0 {
		return 0
	}
	n := 0
	for _, s := range a {
		if s.solved {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

func (a arm) best() float64 {
	best := math.Inf(-1)
	for _, s := range a {
		best = max(best, s.reward)
	}
	return best
}

// bySeed is the mean return of every env seed that has an episode.
func (a arm) bySeed() map[int]float64 {
	sums, counts := map[int]float64{}, map[int]int{}
	for _, s := range a {
		sums[s.seedIndex] += s.reward
		counts[s.seedIndex]++
	}
	for i := range sums {
		sums[i] /= float64(counts[i])
	}
	return sums
}

// minValid is how many valid episodes an arm needs: with fewer, no standard error can be given.
const minValid = 2

// estimate applies every estimator. The formulas are those of the literature named beside each; standard errors are of
// the value given, 0 where none is known.
func estimate(plain, hinted arm) []*spadepb.Estimate {
	both := len(plain) >= minValid && len(hinted) >= minValid
	estimates := []*spadepb.Estimate{
		{Estimator: AntagonistMax, Available: both},
		{Estimator: HintGap, Available: both},
		learnability(plain),
		{Estimator: MaxMC, Available: len(plain) >= minValid},
		{Estimator: PairedHintGap},
	}
	byName := func(name string) *spadepb.Estimate { return estimates[slices.Index(Estimators(), name)] }
	if both {
		byName(AntagonistMax).Value = max(0, hinted.best()-plain.mean())
		gap := byName(HintGap)
		gap.Value = hinted.mean() - plain.mean()
		gap.Stderr = math.Sqrt(hinted.variance()/float64(len(hinted)) + plain.variance()/float64(len(plain)))
	}
	if len(plain) >= minValid {
		best := plain.best()
		if len(hinted) > 0 {
			best = max(best, hinted.best())
		}
		byName(MaxMC).Value = best - plain.mean()
	}
	paired(byName(PairedHintGap), plain, hinted)
	return estimates
}

// learnability is p(1-p) K/(K-1), the unbiased form of Rutherford et al.'s p(1-p); its standard error is the delta
// method's |1-2p| sqrt(p(1-p)/K).
func learnability(plain arm) *spadepb.Estimate {
	e := &spadepb.Estimate{Estimator: Learnability}
	if len(plain) < minValid {
		return e
	}
	k, p := float64(len(plain)), plain.success()
	e.Available = true
	e.Value = float64(p*(1-p)) * (k / (k - 1))
	e.Stderr = math.Abs(1-2*p) * math.Sqrt(float64(p*(1-p))/k)
	return e
}

// paired is the mean over common env seeds of the difference between the arms; what the seeds share cancels.
func paired(e *spadepb.Estimate, plain, hinted arm) {
	p, h := plain.bySeed(), hinted.bySeed()
	var diffs []float64
	for _, i := range sortedKeys(p) {
		if v, ok := h[i]; ok {
			diffs = append(diffs, v-p[i])
		}
	}
	e.NPairs = int32(len(diffs))
	if len(diffs) < minValid {
		return
	}
	n := float64(len(diffs))
	var sum, squares float64
	for _, d := range diffs {
		sum += d
	}
	mean := sum / n
	for _, d := range diffs {
		squares += float64((d - mean) * (d - mean))
	}
	e.Available = true
	e.Value = mean
	e.Stderr = math.Sqrt(squares / (n - 1) / n)
}

func sortedKeys(m map[int]float64) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
