package designer

import (
	"context"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// Stage names of the verdicts that this package gives; the gate has its own.
const (
	StageEmpty     = "empty"
	StageDuplicate = "duplicate"
)

// Report is what the acceptance gate found.
type Report struct {
	Stage, Reason string // of the first failed check; empty when all passed
	Title, Kind   string
	MaxSteps      int
	Stats         []*spadepb.Stat // sorted by name

	// Observed, and in no digest: the sandbox tier that ran it, and whether a clock had a part in the result.
	Tier             string
	Nondeterministic bool
}

// Gate puts a source through the acceptance gate; all its randomness comes from seed. An error means that no verdict
// was reached, never that the source is bad. It may be called concurrently.
type Gate interface {
	Check(ctx context.Context, runtime, code string, seed uint64) (Report, error)
}

// verdict is how an attempt ended: one of the two messages.
type verdict struct {
	ok       *spadepb.EnvironmentAccepted
	rejected *spadepb.EnvironmentRejected
	started  time.Time
	report   Report
}

func (v verdict) accepted() bool { return v.ok != nil }

func (v verdict) message() proto.Message {
	if v.ok != nil {
		return v.ok
	}
	return v.rejected
}

// judge decides about a designed environment. The gate runs at once; the duplicate check waits until every lower slot of
// the iteration has ended, so that of two alike designs the lower slot's wins whatever order they were made in.
func (d *Designer) judge(ctx, waiting context.Context, designed *spadepb.EnvironmentDesigned) (verdict, error) {
	v := verdict{started: time.Now()}
	key := seed.Key{
		Purpose: "gate", Iteration: int(designed.GetIteration()),
		Slot: int(designed.GetSlot()), Attempt: int(designed.GetAttempt()),
	}
	if designed.GetCode() == "" {
		v.rejected = d.reject(designed, Report{Stage: StageEmpty, Reason: "the policy answered no source"})
		return v, nil
	}
	report, err := d.Gate.Check(ctx, designed.GetRuntime(), designed.GetCode(), seed.Derive(d.Run.Seed, key))
	if err != nil {
		return v, fmt.Errorf("acceptance gate: %w", err)
	}
	v.report = report
	if report.Stage != "" {
		v.rejected = d.reject(designed, report)
		return v, nil
	}
	near, share, err := d.compare(waiting, designed)
	if err != nil {
		return v, fmt.Errorf("duplicate check: %w", err)
	}
	if len(near) > 0 && near[0].Similarity >= d.Run.Config.GetDuplicateThreshold() && !d.Run.Ablated("dedup") {
		report.Stage = StageDuplicate
		report.Reason = fmt.Sprintf("similarity %.6f to environment %s, allowed below %g",
			near[0].Similarity, near[0].EnvID, d.Run.Config.GetDuplicateThreshold())
		v.rejected = d.reject(designed, report)
		v.rejected.Novelty, v.rejected.NearestEnvId, v.rejected.NearestSimilarity = novelty(near)
		return v, nil
	}
	v.ok = d.accept(designed, report, near, share)
	return v, nil
}

// nearestKept is how many neighbours of the duplicate check an event keeps.
const nearestKept = 3

// compare finds the nearest environments before this one, and the share of the recent ones that are of its kind.
func (d *Designer) compare(ctx context.Context, designed *spadepb.EnvironmentDesigned) ([]Neighbour, float64, error) {
	before := Before{Iteration: designed.GetIteration(), Slot: designed.GetSlot()}
	accepted, err := d.ledger.WaitBefore(ctx, before.Iteration, before.Slot)
	if err != nil {
		return nil, 0, err
	}
	seen := Seen{d.Run.Scope, before, designed.GetMemoryVersion() + accepted}
	near, err := d.Memory.Near(ctx, seen, 0, designed.GetCode(), true, nearestKept)
	if err != nil {
		return nil, 0, err
	}
	share, err := d.kindShare(ctx, designed)
	return near, share, err
}

// kindShare is the share of the recent accepted designs, of earlier iterations, that are as similar to this one as
// designs of one kind are. The window is counted in iterations, so that it means the same to every slot.
func (d *Designer) kindShare(ctx context.Context, designed *spadepb.EnvironmentDesigned) (float64, error) {
	config := d.Run.Config
	window := int(config.GetCoverageWindow())
	if window == 0 {
		return 0, nil
	}
	iterations := (window + int(config.GetDesigns()) - 1) / int(config.GetDesigns())
	since := designed.GetIteration() - int32(iterations)
	seen := Seen{d.Run.Scope, Before{Iteration: designed.GetIteration()}, designed.GetMemoryVersion()}
	recent, err := d.Memory.Near(ctx, seen, max(0, since), designed.GetCode(), true, window)
	if err != nil || len(recent) == 0 {
		return 0, err
	}
	alike := 0
	for _, n := range recent {
		if n.Similarity >= config.GetCoverageSimilarity() {
			alike++
		}
	}
	return float64(alike) / float64(len(recent)), nil
}

func (d *Designer) reject(designed *spadepb.EnvironmentDesigned, r Report) *spadepb.EnvironmentRejected {
	return &spadepb.EnvironmentRejected{
		RunId:         designed.GetRunId(),
		EnvId:         designed.GetEnvId(),
		Iteration:     designed.GetIteration(),
		Slot:          designed.GetSlot(),
		Attempt:       designed.GetAttempt(),
		Stage:         r.Stage,
		Reason:        r.Reason,
		Title:         r.Title,
		Kind:          r.Kind,
		PolicyVersion: designed.GetPolicyVersion(),
		LastAttempt:   designed.GetAttempt()+1 >= max(1, d.Run.Config.GetMaxAttempts()),
	}
}

func (d *Designer) accept(
	designed *spadepb.EnvironmentDesigned, r Report, near []Neighbour, share float64,
) *spadepb.EnvironmentAccepted {
	ok := &spadepb.EnvironmentAccepted{
		RunId:          designed.GetRunId(),
		EnvId:          designed.GetEnvId(),
		Iteration:      designed.GetIteration(),
		Slot:           designed.GetSlot(),
		Attempt:        designed.GetAttempt(),
		Title:          r.Title,
		Kind:           r.Kind,
		MaxSteps:       int32(r.MaxSteps),
		Nearest:        neighbourMessages(near),
		Stats:          withStat(r.Stats, stats.KindShare, share),
		ExpectedPlain:  int32(d.Run.Attempts(ids.ArmPlain)),
		ExpectedHinted: int32(d.Run.Attempts(ids.ArmHinted)),
		EnvSeeds:       d.envSeeds(designed),
		Repeats:        d.Run.Config.GetRepeats(),
		EmbeddingModel: d.Run.Config.GetEmbeddingModel(),
		PolicyVersion:  designed.GetPolicyVersion(),
	}
	ok.Novelty, ok.NearestEnvId, ok.NearestSimilarity = novelty(near)
	return ok
}

// envSeeds are the seeds the environment will be played on.
func (d *Designer) envSeeds(designed *spadepb.EnvironmentDesigned) []uint64 {
	from, to := SeedRange(designed)
	return seed.Between(d.Run.Seed, seed.Key{
		Purpose: "env-seed", Iteration: int(designed.GetIteration()),
		Slot: int(designed.GetSlot()), Attempt: int(designed.GetAttempt()),
	}, from, to, int(d.Run.Config.GetEnvSeeds()))
}

// SeedRange is the env seeds that an environment may be played on, both ends included.
func SeedRange(designed *spadepb.EnvironmentDesigned) (from, to uint64) {
	if !designed.GetSeedsBounded() {
		return 0, math.MaxUint64
	}
	return designed.GetSeedFrom(), max(designed.GetSeedFrom(), designed.GetSeedTo())
}

func novelty(near []Neighbour) (novelty float64, nearest []byte, similarity float64) {
	if len(near) == 0 {
		return 1, nil, 0
	}
	id := near[0].EnvID
	return 1 - near[0].Similarity, id[:], near[0].Similarity
}

// withStat inserts a statistic in its place.
func withStat(stats []*spadepb.Stat, name string, value float64) []*spadepb.Stat {
	at := len(stats)
	for i, s := range stats {
		if s.GetName() > name {
			at = i
			break
		}
	}
	out := append(stats[:at:at], &spadepb.Stat{Name: name, Value: value})
	return append(out, stats[at:]...)
}
