package trainer

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/training"
)

// batch is the rows of one role, and the event that says what they are made of. Release frees the rows.
type batch struct {
	records []arrow.Record
	built   *spadepb.BatchBuilt
}

// Release frees the batch's rows.
func (b *batch) Release() {
	for _, r := range b.records {
		r.Release()
	}
	b.records = nil
}

// agentBatch makes the agent's rows: one a step, of the episodes whose group carries a signal. Rows are ordered by
// (slot, attempt, arm, seed index, repeat, step), so that arrival does not show.
func agentBatch(run runs.Run, k int, it *iteration, mem memory.Allocator) (*batch, error) {
	built := newBuilt(run, k, string(policy.Agent))
	credit := map[uuid.UUID]float64{}
	episodes := it.trainable(run.Config.GetTrainHinted())
	for _, group := range groupEpisodes(episodes, run.Config.GetGroup() == "env") {
		rewards := make([]float64, len(group))
		for i, e := range group {
			rewards[i] = e.GetTotalReward()
		}
		values, err := addGroup(built, run.Config, rewards)
		if err != nil {
			return nil, err
		}
		for i, e := range group {
			credit[uuid.UUID(e.GetRolloutId())] = values[i]
			built.Advantages = append(built.Advantages, &spadepb.Advantage{
				SubjectId: e.GetRolloutId(), EnvId: e.GetEnvId(), GroupId: e.GetGroupId(),
				Reward: rewards[i], Advantage: values[i],
			})
		}
	}
	return fill(built, mem, func(b *training.Builder) error {
		for _, e := range episodes {
			if a := credit[uuid.UUID(e.GetRolloutId())]; a != 0 {
				if err := appendEpisode(b, e, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// designerBatch makes the designer's rows: one a design, accepted or not, with its pay.
func designerBatch(run runs.Run, k int, it *iteration, mem memory.Allocator) (*batch, error) {
	built := newBuilt(run, k, string(policy.Designer))
	designs := it.paid()
	rewards := make([]float64, len(designs))
	for i, d := range designs {
		rewards[i] = d.pay.GetReward()
	}
	values, err := addGroup(built, run.Config, rewards)
	if err != nil {
		return nil, err
	}
	for i, d := range designs {
		built.Advantages = append(built.Advantages, &spadepb.Advantage{
			SubjectId: d.design.GetEnvId(), EnvId: d.design.GetEnvId(), GroupId: d.design.GetDesignGroup(),
			Reward: rewards[i], Advantage: values[i],
		})
	}
	return fill(built, mem, func(b *training.Builder) error {
		for i, d := range designs {
			if err := appendDesign(b, d.design, rewards[i], values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func newBuilt(run runs.Run, k int, role string) *spadepb.BatchBuilt {
	id := ids.Batch(run.ID, k, role)
	estimator := run.Config.GetAdvantage()
	if estimator == MaxRL && role == string(policy.Designer) {
		// Pay can be negative, and dividing by a negative mean would turn every advantage around.
		estimator = DrGRPO
	}
	return &spadepb.BatchBuilt{
		RunId: run.ID[:], BatchId: id[:], Iteration: int32(k), Role: role, PolicyVersion: int64(k),
		Estimator: estimator, Eps: run.Config.GetAdvantageEps(), Ddof: run.Config.GetAdvantageDdof(),
	}
}

// addGroup computes one group's advantages and counts it.
func addGroup(built *spadepb.BatchBuilt, config *spadepb.SemanticConfig, rewards []float64) ([]float64, error) {
	values, signal, err := advantages(
		built.GetEstimator(), rewards, config.GetAdvantageEps(), int(config.GetAdvantageDdof()))
	if err != nil {
		return nil, fmt.Errorf("advantages: %w", err)
	}
	built.Groups++
	if !signal {
		built.GroupsWithoutSignal++
	}
	return values, nil
}

// fill runs append over a builder and completes built with what came out.
func fill(built *spadepb.BatchBuilt, mem memory.Allocator, appendRows func(*training.Builder) error) (*batch, error) {
	out := &batch{built: built}
	b := training.NewBuilder(mem, 0, func(r arrow.Record) error {
		r.Retain()
		out.records = append(out.records, r)
		return nil
	})
	defer b.Release()
	if err := appendRows(b); err != nil {
		out.Release()
		return nil, fmt.Errorf("build %s batch: %w", built.GetRole(), err)
	}
	if err := b.Flush(); err != nil {
		out.Release()
		return nil, err
	}
	for _, r := range out.records {
		built.Rows += r.NumRows()
	}
	sum, err := training.Digest(out.records)
	if err == nil {
		built.Sha256, err = hex.DecodeString(sum)
	}
	if err != nil {
		out.Release()
		return nil, fmt.Errorf("digest %s batch: %w", built.GetRole(), err)
	}
	return out, nil
}

// groupEpisodes cuts episodes, ordered as trainable gives them, into the groups whose returns are compared: (env, arm,
// seed), or (env, arm) when whole is set.
func groupEpisodes(episodes []*spadepb.RolloutCompleted, whole bool) [][]*spadepb.RolloutCompleted {
	var groups [][]*spadepb.RolloutCompleted
	same := func(a, b *spadepb.RolloutCompleted) bool {
		return bytes.Equal(a.GetEnvId(), b.GetEnvId()) && a.GetArm() == b.GetArm() &&
			(whole || a.GetSeedIndex() == b.GetSeedIndex())
	}
	for i, e := range episodes {
		if i == 0 || !same(episodes[i-1], e) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], e)
	}
	return groups
}

// compareEpisodes orders the episodes of one environment.
func compareEpisodes(a, b *spadepb.RolloutCompleted) int {
	return cmp.Or(
		-cmp.Compare(a.GetArm(), b.GetArm()), // plain before hinted
		cmp.Compare(a.GetSeedIndex(), b.GetSeedIndex()),
		cmp.Compare(a.GetRepeat(), b.GetRepeat()),
	)
}

func compareDesigns(a, b *spadepb.EnvironmentDesigned) int {
	return cmp.Or(cmp.Compare(a.GetSlot(), b.GetSlot()), cmp.Compare(a.GetAttempt(), b.GetAttempt()))
}
