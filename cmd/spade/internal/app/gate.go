package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/hidden"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// hiddenSeeds is how many env seeds the test for hidden facts plays.
const hiddenSeeds = 16

// hiddenTime is how long that may take in Python, whose calls are bounded one by one only.
const hiddenTime = 2 * time.Minute

// runGate is the acceptance gate of a run: the checks of package gate, and the measure of hidden facts that the guard of
// the designer's pay reads.
type runGate struct{ pool *gym.Pool }

var _ designer.Gate = runGate{}

// Check puts a source through the gate.
func (g runGate) Check(ctx context.Context, runtime, code string, s uint64) (designer.Report, error) {
	return g.judge(ctx, judged{src: gym.Source{Runtime: runtime, Code: code}, seed: s, to: math.MaxUint64})
}

// judged is what the gate judges and how.
type judged struct {
	src      gym.Source
	seed     uint64
	from, to uint64 // env seeds that may be played, both ends included
	unsolved bool   // accept what has no reference solution
}

// gateSeeds is how many env seeds the gate plays.
const gateSeeds = 4

func (g runGate) judge(ctx context.Context, j judged) (designer.Report, error) {
	r, err := gate.Check(ctx, g.pool, j.src, gate.Options{
		Seed: j.seed, Seeds: seed.Between(j.seed, seed.Key{Purpose: "gate.seed"}, j.from, j.to, gateSeeds),
		Crowd: seed.Between(j.seed, seed.Key{Purpose: "hidden.seed"}, j.from, j.to, hiddenSeeds),
		// A design without a reference solution could not be judged: an absent verdict is never a pass.
		RequireSolve: !j.unsolved,
	})
	if err != nil {
		return designer.Report{}, err
	}
	out := designer.Report{
		Stage: r.Stage, Reason: r.Reason, Title: r.Meta.Title, Kind: r.Meta.Kind, MaxSteps: r.Meta.MaxSteps,
		Stats: measured(r.Stats), Tier: r.Tier, Nondeterministic: r.Nondeterministic,
	}
	if !r.Accepted {
		return out, nil
	}
	share, err := g.hidden(ctx, j)
	return withHidden(out, share, err)
}

// withHidden adds the share of hidden facts to the report of an accepted source, or why that could not be measured. A source
// that is refused now although it was loaded before is not the same whenever it is loaded: that is a verdict about the
// source, and no reason to stop whatever waits for it.
func withHidden(out designer.Report, share float64, err error) (designer.Report, error) {
	if refused, ok := errors.AsType[*gym.SourceError](err); ok {
		out.Stage, out.Reason = gate.StageDeterministic, "the source is refused when it is loaded again: "+refused.Error()
		out.Nondeterministic = out.Nondeterministic || refused.Fault.Nondeterministic
		return out, nil
	}
	if errors.Is(err, hidden.ErrLate) {
		out.Stage, out.Reason, out.Nondeterministic = gate.StageRun, err.Error()+": the environment is too slow to be played", true
		return out, nil
	}
	if err != nil {
		return designer.Report{}, fmt.Errorf("look for hidden facts: %w", err)
	}
	out.Stats = append(out.Stats, &spadepb.Stat{Name: stats.HiddenShare, Value: share})
	slices.SortFunc(out.Stats, func(a, b *spadepb.Stat) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

func (g runGate) hidden(ctx context.Context, j judged) (float64, error) {
	w, err := g.pool.Open(ctx, j.src)
	if err != nil {
		return 0, err
	}
	defer gymWorker{w}.Close()
	limits := hidden.Limits{Steps: w.Meta().MaxSteps}
	if j.src.Runtime == gym.RuntimePython {
		limits.Time = hiddenTime
	}
	return hidden.Share(ctx, w, limits, seed.Between(j.seed, seed.Key{Purpose: "hidden.seed"}, j.from, j.to, hiddenSeeds))
}

func measured(s gate.Stats) []*spadepb.Stat {
	return []*spadepb.Stat{
		{Name: "actions_mean", Value: s.ActionsMean},
		{Name: "distinct_starts", Value: float64(s.DistinctStarts)},
		{Name: stats.HintBytes, Value: float64(s.HintBytes)},
		{Name: "observation_bytes", Value: float64(s.ObservationBytes)},
		{Name: "random_return", Value: s.RandomReturn},
		{Name: "random_solved", Value: s.RandomSolved},
		{Name: "reference_steps", Value: s.ReferenceSteps},
		{Name: "reference_steps_max", Value: float64(s.ReferenceStepsMax)},
		{Name: "source_bytes", Value: float64(s.SourceBytes)},
	}
}
