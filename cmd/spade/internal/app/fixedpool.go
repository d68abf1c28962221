package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ErrPool is matched by the error of a pool that a run cannot draw from.
var ErrPool = errors.New("no pool to draw from")

// FixedPool is an import that a run draws its environments from.
type FixedPool struct {
	Pin          string            // NAME@DIGEST of the import's log; empty for a run with a designer
	Environments []designer.Pooled // the accepted ones, in the order of the import
}

// sets are the package sets that the environments need.
func (p FixedPool) sets() []string {
	sets := make([]string, len(p.Environments))
	for i, e := range p.Environments {
		sets[i] = e.Designed.GetPackageSet()
	}
	return sets
}

// ReadPool reads a finished import from the log. The error wraps ErrPool when there is none of that name, or nothing in it
// can be played.
func ReadPool(ctx context.Context, log *bus.Client, name string) (FixedPool, error) {
	run, err := FindRun(ctx, log, name)
	if errors.Is(err, ErrNoRun) {
		return FixedPool{}, fmt.Errorf("%w: %q was never imported; spade env import SPEC --name %s brings it in, spade runs lists what is there",
			ErrPool, name, name)
	}
	if err != nil {
		return FixedPool{}, err
	}
	if kind := run.Started.GetKind(); kind != runs.KindPool {
		return FixedPool{}, fmt.Errorf("%w: %q is a run of kind %s, no pool", ErrPool, name, kind)
	}
	fold, err := foldImport(ctx, log, run)
	if err != nil {
		return FixedPool{}, err
	}
	if fold.finished == nil {
		return FixedPool{}, fmt.Errorf("%w: the import of %q is not finished; the same spade env import takes it up", ErrPool, name)
	}
	pool := FixedPool{Environments: fold.accepted()}
	if len(pool.Environments) == 0 {
		return FixedPool{}, fmt.Errorf("%w: the gate accepted none of the %d environments of %q", ErrPool, len(run.Started.GetPool()), name)
	}
	d, err := Digest(ctx, log, run)
	if err != nil {
		return FixedPool{}, err
	}
	pool.Pin = fmt.Sprintf("%s@%x", run.Name, d.Sum())
	return pool, nil
}

// importFold is what the log holds of an import. Of a repeated event the first record counts.
type importFold struct {
	run      runs.Run
	seen     map[uuid.UUID]bool
	designed map[uuid.UUID]*spadepb.EnvironmentDesigned
	verdicts map[uuid.UUID]importVerdict
	finished *spadepb.RunFinished
}

// importVerdict is how an entry ended: one of the two.
type importVerdict struct {
	accepted *spadepb.EnvironmentAccepted
	rejected *spadepb.EnvironmentRejected
	tier     string
}

// foldImport reads what the log holds of an import.
func foldImport(ctx context.Context, log *bus.Client, run runs.Run) (*importFold, error) {
	f := &importFold{
		run: run, seen: map[uuid.UUID]bool{},
		designed: map[uuid.UUID]*spadepb.EnvironmentDesigned{}, verdicts: map[uuid.UUID]importVerdict{},
	}
	for _, topic := range []string{topics.Runs, topics.Environments} {
		if err := log.Read(ctx, topic, run.Positions[topic], nil, f.add); err != nil {
			return nil, fmt.Errorf("read the import %s: %w", run.Name, err)
		}
	}
	return f, nil
}

func (f *importFold) add(ev event.Event) error {
	if !topics.OfRun(ev.Key, f.run.ID) || f.seen[ev.ID] {
		return nil
	}
	msg, err := ev.Message()
	if err != nil {
		return nil //nolint:nilerr // the warehouse sink reads the same record and keeps it as a dead letter
	}
	f.seen[ev.ID] = true
	switch m := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		f.designed[uuid.UUID(m.GetEnvId())] = m
	case *spadepb.EnvironmentAccepted:
		f.end(m.GetEnvId(), importVerdict{accepted: m, tier: ev.Observed.GetSandboxTier()})
	case *spadepb.EnvironmentRejected:
		f.end(m.GetEnvId(), importVerdict{rejected: m, tier: ev.Observed.GetSandboxTier()})
	case *spadepb.RunFinished:
		f.finished = m
	}
	return nil
}

// end notes a verdict. Of an acceptance and a rejection of one entry, which two processes may have come to, the acceptance
// counts, whatever the order in which they are read.
func (f *importFold) end(id []byte, v importVerdict) {
	env := uuid.UUID(id)
	if _, known := f.verdicts[env]; !known || v.accepted != nil {
		f.verdicts[env] = v
	}
}

// accepted are the environments that the gate accepted, in the order of the import.
func (f *importFold) accepted() []designer.Pooled {
	var list []designer.Pooled
	for env, v := range f.verdicts {
		if d := f.designed[env]; v.accepted != nil && d != nil {
			list = append(list, designer.Pooled{Designed: d, Accepted: v.accepted, Tier: v.tier})
		}
	}
	slices.SortFunc(list, func(a, b designer.Pooled) int { return cmp.Compare(a.Designed.GetSlot(), b.Designed.GetSlot()) })
	return list
}

// sourceOf is what the gym plays of an imported environment.
func sourceOf(m *spadepb.EnvironmentDesigned) gym.Source {
	return gym.Source{Runtime: m.GetRuntime(), Code: m.GetCode(), Package: m.GetPackageSet()}
}
