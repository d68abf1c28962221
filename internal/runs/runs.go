package runs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Positions are offsets by topic and partition.
type Positions = map[string]map[int32]int64

// Run is one run as its RunStarted event describes it. It is not changed after it was made.
type Run struct {
	ID        uuid.UUID
	Name      string
	Seed      uint64
	Config    *spadepb.SemanticConfig
	Documents []uuid.UUID // that may be sampled, sorted
	Started   *spadepb.RunStarted
	Positions Positions // where the run's events can begin
	// Scope is this run and its ancestors: environments accepted there are remembered.
	Scope []uuid.UUID
}

// Spec is what a user asks for.
type Spec struct {
	Name      string // empty: derived from seed and config
	Seed      uint64
	Config    *spadepb.SemanticConfig
	Documents []uuid.UUID
	// Unnamed says that nobody named the documents: they are what the log holds, and a run that is there keeps those it pinned.
	Unnamed bool
	Kind    string               // empty: KindTrain
	Pool    []*spadepb.PoolEntry // kind "pool": what is imported, sorted by name
}

// The kinds of runs that a user can ask for. One of KindPool only imports environments.
const (
	KindTrain = "train"
	KindPool  = "pool"
)

// Setting is what was merely seen when a run was opened.
type Setting struct {
	Positions  Positions // the end of every partition before the run
	Deployment string    // the other half of the configuration, as JSON without secrets
	Tier       string    // sandbox tier that environments run in
}

// DefaultName is the name of a run that was given none: the same seed and configuration lead to the same run.
func DefaultName(seed uint64, config *spadepb.SemanticConfig) (string, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("encode semantic config: %w", err)
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("seed%d-%s", seed, hex.EncodeToString(sum[:4])), nil
}

// Start makes the event that opens a run.
func Start(spec Spec, source *observe.Source, seen Setting) (event.Event, error) {
	name := spec.Name
	if name == "" {
		var err error
		if name, err = DefaultName(spec.Seed, spec.Config); err != nil {
			return event.Event{}, err
		}
	}
	id := ids.Run(name)
	obs := source.Stamp(time.Now())
	obs.DeploymentJson, obs.SandboxTier = seen.Deployment, seen.Tier
	obs.Positions = flatten(seen.Positions)
	return event.New(topics.RunKey(id), id, 0, &spadepb.RunStarted{
		RunId:        id[:],
		Name:         name,
		Seed:         spec.Seed,
		Config:       spec.Config,
		Kind:         cmp.Or(spec.Kind, KindTrain),
		Pool:         spec.Pool,
		Documents:    Pin(spec.Documents),
		Architecture: runtime.GOARCH,
	}, obs)
}

// Resume makes the event that records that a process took the run up again.
func Resume(run Run, iteration int, source *observe.Source) (event.Event, error) {
	obs := source.Stamp(time.Now())
	// The ordinal only keeps the ids of several resumptions apart; RunResumed is in no digest.
	ordinal := uint64(time.Now().UnixNano())
	return event.New(topics.RunKey(run.ID), run.ID, int(ordinal), &spadepb.RunResumed{
		RunId: run.ID[:], Iteration: int32(iteration), Ordinal: ordinal,
	}, obs)
}

// Pin fixes the set of documents that may be sampled.
func Pin(documents []uuid.UUID) *spadepb.PinnedDocuments {
	sorted := slices.Clone(documents)
	slices.SortFunc(sorted, compareIDs)
	sorted = slices.Compact(sorted)
	packed := make([]byte, 0, 16*len(sorted))
	for _, id := range sorted {
		packed = append(packed, id[:]...)
	}
	sum := sha256.Sum256(packed)
	return &spadepb.PinnedDocuments{Sha256: sum[:], Count: int64(len(sorted)), Ids: packed}
}

// FromEvent reads a RunStarted event.
func FromEvent(ev event.Event) (Run, error) {
	msg, err := ev.Message()
	if err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	started, ok := msg.(*spadepb.RunStarted)
	if !ok {
		return Run{}, fmt.Errorf("read run: %s is no RunStarted: %w", ev.Type, event.ErrMalformed)
	}
	id, err := uuid.FromBytes(started.GetRunId())
	if err != nil || started.GetConfig() == nil {
		return Run{}, fmt.Errorf("read run: id or config missing: %w", event.ErrMalformed)
	}
	run := Run{
		ID:        id,
		Name:      started.GetName(),
		Seed:      started.GetSeed(),
		Config:    started.GetConfig(),
		Started:   started,
		Positions: expand(ev.Observed.GetPositions()),
		Scope:     []uuid.UUID{id},
	}
	packed := started.GetDocuments().GetIds()
	if len(packed)%16 != 0 {
		return Run{}, fmt.Errorf("read run: pinned documents are %d bytes: %w", len(packed), event.ErrMalformed)
	}
	for ; len(packed) > 0; packed = packed[16:] {
		run.Documents = append(run.Documents, uuid.UUID(packed[:16]))
	}
	return run, nil
}

// Attempts is the number of episodes an arm of an accepted environment plays.
func (r Run) Attempts(arm string) int {
	all := int(r.Config.GetEnvSeeds() * r.Config.GetRepeats())
	if arm == ids.ArmPlain {
		return all
	}
	if r.Config.GetNoHintArm() {
		return 0
	}
	if budget := int(r.Config.GetHintBudget()); budget > 0 {
		return min(budget, all)
	}
	return all
}

// Ablated reports whether a part of the loop is switched off.
func (r Run) Ablated(part string) bool {
	return slices.Contains(r.Config.GetAblations(), part)
}

func compareIDs(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }

func flatten(p Positions) []*spadepb.LogPosition {
	var flat []*spadepb.LogPosition
	for topic, partitions := range p {
		for partition, offset := range partitions {
			flat = append(flat, &spadepb.LogPosition{Topic: topic, Partition: partition, Offset: offset})
		}
	}
	slices.SortFunc(flat, func(a, b *spadepb.LogPosition) int {
		if a.Topic != b.Topic {
			if a.Topic < b.Topic {
				return -1
			}
			return 1
		}
		return int(a.Partition - b.Partition)
	})
	return flat
}

func expand(flat []*spadepb.LogPosition) Positions {
	p := Positions{}
	for _, at := range flat {
		if p[at.GetTopic()] == nil {
			p[at.GetTopic()] = map[int32]int64{}
		}
		p[at.GetTopic()][at.GetPartition()] = at.GetOffset()
	}
	return p
}
