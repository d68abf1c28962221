package app

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// importWriter appends what the log lacks of an import.
type importWriter struct {
	*importer
	run    runs.Run
	held   *importFold
	log    *bus.Client
	source *observe.Source
}

func (w *importWriter) write(ctx context.Context) error {
	list, err := w.all(ctx, w.entry)
	if err != nil {
		return err
	}
	sum := sumUp(w.Name, list)
	return w.append(ctx, topics.RunKey(w.run.ID), w.run.ID, &spadepb.RunFinished{
		RunId: w.run.ID[:], Status: "finished", Designed: int64(len(list)), Accepted: int64(sum.Accepted), Rejected: int64(sum.Rejected),
	}, w.source.Stamp(time.Now()))
}

// entry takes one entry to its verdict, or reads it from the log.
func (w *importWriter) entry(ctx context.Context, slot int) (ImportedEntry, error) {
	env := ids.Env(w.run.ID, 0, slot, 0)
	pinned := w.run.Started.GetPool()[slot]
	if v, known := w.held.verdicts[env]; known {
		return entryOf(pinned, env, v), nil
	}
	started := time.Now()
	key := topics.EnvKey(w.run.ID, env)
	if w.held.designed[env] == nil {
		if err := w.append(ctx, key, env, w.designed(env, slot), w.source.Stamp(started)); err != nil {
			return ImportedEntry{}, err
		}
	}
	report, err := w.judge(ctx, slot)
	if err != nil {
		return ImportedEntry{}, fmt.Errorf("acceptance gate: %w", err)
	}
	v := w.verdict(env, slot, report)
	obs := w.source.Stamp(started)
	obs.SandboxTier, obs.Nondeterministic = report.Tier, report.Nondeterministic
	return entryOf(pinned, env, v), w.append(ctx, key, env, v.message(), obs)
}

func (w *importWriter) designed(env uuid.UUID, slot int) *spadepb.EnvironmentDesigned {
	e, pinned := w.Entries[slot], w.run.Started.GetPool()[slot]
	return &spadepb.EnvironmentDesigned{
		RunId: w.run.ID[:], EnvId: env[:], Slot: int32(slot), Name: e.Name,
		// What is no UTF-8 cannot stand in an event, and the gate refuses it.
		Runtime: e.Source.Runtime, Code: strings.ToValidUTF8(e.Source.Code, "\uFFFD"), CodeSha256: bytes.Clone(pinned.GetCodeSha256()),
		Package: e.Package, PackageVersion: e.Version, PackageSet: e.Source.Package,
		SeedsBounded: pinned.GetSeedsBounded(), SeedFrom: pinned.GetSeedFrom(), SeedTo: pinned.GetSeedTo(),
	}
}

func (w *importWriter) verdict(env uuid.UUID, slot int, r designer.Report) importVerdict {
	if r.Stage != "" {
		return importVerdict{tier: r.Tier, rejected: &spadepb.EnvironmentRejected{
			RunId: w.run.ID[:], EnvId: env[:], Slot: int32(slot), Stage: r.Stage, Reason: r.Reason,
			Title: r.Title, Kind: r.Kind, LastAttempt: true,
		}}
	}
	return importVerdict{tier: r.Tier, accepted: &spadepb.EnvironmentAccepted{
		RunId: w.run.ID[:], EnvId: env[:], Slot: int32(slot), Title: r.Title, Kind: r.Kind, MaxSteps: int32(r.MaxSteps), Stats: r.Stats,
	}}
}

func (v importVerdict) message() proto.Message {
	if v.accepted != nil {
		return v.accepted
	}
	return v.rejected
}

func (w *importWriter) append(ctx context.Context, key string, subject uuid.UUID, msg proto.Message, obs *spadepb.Observed) error {
	ev, err := event.New(key, subject, 0, msg, obs)
	if err != nil {
		return err
	}
	if err := w.log.Append(ctx, ev); err != nil {
		return fmt.Errorf("append %s: %w", ev.Type, err)
	}
	return nil
}
