package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// runGate is the acceptance gate of a run: the checks of package gate, and the measure of hidden facts that the guard of
// the designer's pay reads.
type runGate struct{ pool *gym.Pool }

var _ designer.Gate = runGate{}

// Check puts a source through the gate.
func (g runGate) Check(ctx context.Context, runtime, code string, s uint64) (designer.Report, error) {
	src := gym.Source{Runtime: runtime, Code: code}
	// A design without a reference solution could not be judged: an absent verdict is never a pass.
	r, err := gate.Check(ctx, g.pool, src, gate.Options{Seed: s, RequireSolve: true})
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
	share, err := g.hidden(ctx, src, s)
	if err != nil {
		return designer.Report{}, fmt.Errorf("look for hidden facts: %w", err)
	}
	out.Stats = append(out.Stats, &spadepb.Stat{Name: stats.HiddenShare, Value: share})
	slices.SortFunc(out.Stats, func(a, b *spadepb.Stat) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

func (g runGate) hidden(ctx context.Context, src gym.Source, s uint64) (float64, error) {
	w, err := g.pool.Open(ctx, src)
	if err != nil {
		return 0, err
	}
	defer worker{w}.Close()
	seeds := make([]uint64, hiddenSeeds)
	for i := range seeds {
		seeds[i] = seed.Derive(s, seed.Key{Purpose: "hidden.seed", Index: i})
	}
	return hidden.Share(ctx, w, seeds)
}

func measured(s gate.Stats) []*spadepb.Stat {
	return []*spadepb.Stat{
		{Name: "actions_mean", Value: s.ActionsMean},
		{Name: "distinct_starts", Value: float64(s.DistinctStarts)},
		{Name: "hint_bytes", Value: float64(s.HintBytes)},
		{Name: "observation_bytes", Value: float64(s.ObservationBytes)},
		{Name: "random_return", Value: s.RandomReturn},
		{Name: "random_solved", Value: s.RandomSolved},
		{Name: "reference_steps", Value: s.ReferenceSteps},
		{Name: "reference_steps_max", Value: float64(s.ReferenceStepsMax)},
		{Name: "source_bytes", Value: float64(s.SourceBytes)},
	}
}
