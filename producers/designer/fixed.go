package designer

import (
	"context"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// Pooled is one accepted environment of a fixed pool, with the verdict of the gate at its import.
type Pooled struct {
	Designed *spadepb.EnvironmentDesigned
	Accepted *spadepb.EnvironmentAccepted
	Tier     string // sandbox tier that the gate ran in
}

// draw fills a slot from the pool instead of asking the policy. The gate's verdict is carried over and not reached again:
// the run pins the pool's digest, so that it is a verdict about the same source, and a gate run of other env seeds could
// only bring a draw to an end that the import has decided. There is no duplicate check, since a pool that is drawn from
// again and again is meant to repeat itself.
func (d *Designer) draw(ctx context.Context, req *spadepb.DesignRequested) error {
	env := ids.Env(d.Run.ID, int(req.GetIteration()), int(req.GetSlot()), 0)
	known := d.ledger.Get(env)
	if known.Accepted || known.Rejected != nil {
		return nil
	}
	started := time.Now()
	from := d.Pool[d.pick(int(req.GetIteration()), int(req.GetSlot()))]
	designed := known.Designed
	if designed == nil {
		designed = d.copyOf(from, req, env)
		if err := d.append(ctx, env, designed, d.Source.Stamp(started)); err != nil {
			return err
		}
	}
	obs := d.Source.Stamp(started)
	obs.SandboxTier = from.Tier
	return d.append(ctx, env, d.carryOver(from, designed), obs)
}

// pick is the place in the pool of what a slot gets: within an iteration the pool is dealt out in a random order, without
// repeating any while it lasts, and then again in another.
func (d *Designer) pick(iteration, slot int) int {
	n := len(d.Pool)
	key := seed.Key{Purpose: "pool", Iteration: iteration, Index: slot / n}
	return seed.Stream(d.Run.Seed, key).Perm(n)[slot%n]
}

func (d *Designer) copyOf(from Pooled, req *spadepb.DesignRequested, env uuid.UUID) *spadepb.EnvironmentDesigned {
	p := from.Designed
	return &spadepb.EnvironmentDesigned{
		RunId: d.Run.ID[:], EnvId: env[:], Iteration: req.GetIteration(), Slot: req.GetSlot(),
		DesignGroup: req.GetDesignGroup(), PolicyVersion: req.GetPolicyVersion(), MemoryVersion: req.GetMemoryVersion(),
		Runtime: p.GetRuntime(), Code: p.GetCode(), CodeSha256: p.GetCodeSha256(),
		Package: p.GetPackage(), PackageVersion: p.GetPackageVersion(), PackageSet: p.GetPackageSet(),
		SeedsBounded: p.GetSeedsBounded(), SeedFrom: p.GetSeedFrom(), SeedTo: p.GetSeedTo(),
		Name: p.GetName(), PoolEnvId: p.GetEnvId(),
	}
}

// carryOver is the import's verdict about a slot's environment. An environment that gives no hint is played without.
func (d *Designer) carryOver(from Pooled, designed *spadepb.EnvironmentDesigned) *spadepb.EnvironmentAccepted {
	p := from.Accepted
	ok := &spadepb.EnvironmentAccepted{
		RunId: designed.GetRunId(), EnvId: designed.GetEnvId(), Iteration: designed.GetIteration(), Slot: designed.GetSlot(),
		Title: p.GetTitle(), Kind: p.GetKind(), MaxSteps: p.GetMaxSteps(), Repeats: d.Run.Config.GetRepeats(),
		ExpectedPlain: int32(d.Run.Attempts(ids.ArmPlain)), EnvSeeds: d.envSeeds(designed),
		PolicyVersion: designed.GetPolicyVersion(),
	}
	for _, s := range p.GetStats() {
		ok.Stats = append(ok.Stats, proto.CloneOf(s))
		if s.GetName() == stats.HintBytes && s.GetValue() > 0 {
			ok.ExpectedHinted = int32(d.Run.Attempts(ids.ArmHinted))
		}
	}
	return ok
}
