package trainer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Learner trains the policy. It holds a version at a time; Step calls it from one goroutine.
type Learner interface {
	// Name and version of the implementation, as they enter PolicyUpdated.
	Name() (name, version string)
	// Begin is the state of version 0, before any training.
	Begin(ctx context.Context) (Update, error)
	// Train takes the records of an iteration's batches, agent rows first, from version from to from+1. The records stay
	// the caller's. The result is a function of the state at from and of the rows.
	Train(ctx context.Context, from int64, records []arrow.Record) (Update, error)
}

// Update is what training came to.
type Update struct {
	Version    int64
	Roles      []string
	Metrics    []*spadepb.Metric
	Checkpoint []byte
	Format     string
	Device     string
}

// Checkpoints keeps the states that are too large for the log.
type Checkpoints interface {
	// Save stores a state under its SHA-256 and says where it is.
	Save(ctx context.Context, sum [sha256.Size]byte, state []byte) (uri string, err error)
}

// maxInline is the size up to which a checkpoint rides in its event.
const maxInline = 8 << 20

// DesignerPolicy is the designer of a run that is the policy itself, and learns.
const DesignerPolicy = "policy"

// Settings is what a Trainer works with.
type Settings struct {
	Run         runs.Run
	Learner     Learner
	Checkpoints Checkpoints // may be nil: then every checkpoint must fit into its event
	Source      *observe.Source
	Allocator   memory.Allocator
}

// Trainer folds one run's log and trains its policy. It is not safe for concurrent use.
type Trainer struct {
	Settings
	iterations map[int]*iteration
	updates    map[int64]*spadepb.PolicyUpdated // by from; the first one counts
}

// New makes a trainer that has seen nothing.
func New(set Settings) *Trainer {
	return &Trainer{Settings: set, iterations: map[int]*iteration{}, updates: map[int64]*spadepb.PolicyUpdated{}}
}

// Latest is the newest update in the log, nil before the first.
func (t *Trainer) Latest() *spadepb.PolicyUpdated {
	if recent := t.Recent(1); recent != nil {
		return recent[0]
	}
	return nil
}

// Recent are the newest updates in the log, at most n, oldest first: those whose versions may still be asked for.
func (t *Trainer) Recent(n int) []*spadepb.PolicyUpdated {
	var all []*spadepb.PolicyUpdated
	for from := int64(-1); t.updates[from] != nil; from++ {
		all = append(all, t.updates[from])
	}
	return all[max(0, len(all)-n):]
}

func (t *Trainer) version() int64 {
	if latest := t.Latest(); latest != nil {
		return latest.GetPolicyTo()
	}
	return -1
}

// Add folds one event of the run. Events may come in any order and more than once; what an iteration needs is dropped
// once it has been trained.
func (t *Trainer) Add(msg proto.Message) {
	if u, ok := msg.(*spadepb.PolicyUpdated); ok {
		if t.updates[u.GetPolicyFrom()] == nil {
			t.updates[u.GetPolicyFrom()] = u
		}
		t.forget()
		return
	}
	m, ok := msg.(interface{ GetIteration() int32 })
	if !ok || int64(m.GetIteration()) < t.version() {
		return
	}
	k := int(m.GetIteration())
	it := t.iterations[k]
	if it == nil {
		it = newIteration()
		t.iterations[k] = it
	}
	it.add(msg)
}

func (t *Trainer) forget() {
	// The states of versions that nobody asks for any more; a long run has very many.
	if old := t.updates[t.version()-int64(t.Run.Config.GetMaxPolicyLag())-2]; old.GetCheckpoint() != nil {
		old.Checkpoint.Inline = nil
	}
	for k := range t.iterations {
		if int64(k) < t.version() {
			delete(t.iterations, k)
		}
	}
}

// Step makes the next policy version if it is due, or nothing. Its events are to be appended in their order. It must be
// called only when everything that was in the log at start has been added, and the learner must hold the latest version.
func (t *Trainer) Step(ctx context.Context) ([]event.Event, error) {
	v := t.version()
	if v < 0 {
		return t.begin(ctx)
	}
	it := t.iterations[int(v)]
	if it == nil || !it.closed || !it.whole() {
		return nil, nil
	}
	started := time.Now()
	batches, err := t.batches(int(v), it)
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	if err != nil {
		return nil, err
	}
	var records []arrow.Record
	var built []*spadepb.BatchBuilt
	for _, b := range batches {
		records, built = append(records, b.records...), append(built, b.built)
	}
	update, err := t.Learner.Train(ctx, v, records)
	if err != nil {
		return nil, fmt.Errorf("train version %d: %w", v, err)
	}
	updated, uri, err := t.updated(ctx, update, v, int32(v), built...)
	if err != nil {
		return nil, err
	}
	return t.events(started, updated, uri, update.Device, built...)
}

// batches are the agent's and, where the designer is the policy, the designer's: a uniform one does not learn. What it
// returns is to be released, also after an error.
func (t *Trainer) batches(k int, it *iteration) ([]*batch, error) {
	agent, err := agentBatch(t.Run, k, it, t.Allocator)
	if err != nil {
		return nil, err
	}
	if t.Run.Config.GetDesigner() != DesignerPolicy {
		return []*batch{agent}, nil
	}
	designer, err := designerBatch(t.Run, k, it, t.Allocator)
	if err != nil {
		return []*batch{agent}, err
	}
	return []*batch{agent, designer}, nil
}

// begin makes the version that a run begins with.
func (t *Trainer) begin(ctx context.Context) ([]event.Event, error) {
	started := time.Now()
	update, err := t.Learner.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin policy: %w", err)
	}
	updated, uri, err := t.updated(ctx, update, -1, -1)
	if err != nil {
		return nil, err
	}
	return t.events(started, updated, uri, update.Device)
}

// updated is the event of an update, and where its checkpoint lies when that is not in the event.
func (t *Trainer) updated(
	ctx context.Context, u Update, from int64, iteration int32, batches ...*spadepb.BatchBuilt,
) (msg *spadepb.PolicyUpdated, uri string, err error) {
	if u.Version != from+1 {
		return nil, "", fmt.Errorf("learner went from version %d to %d", from, u.Version)
	}
	name, version := t.Learner.Name()
	msg = &spadepb.PolicyUpdated{
		RunId: t.Run.ID[:], PolicyFrom: from, PolicyTo: u.Version, Iteration: iteration,
		Roles: u.Roles, Trainer: name, TrainerVersion: version, Metrics: u.Metrics,
	}
	slices.SortFunc(msg.Metrics, func(a, b *spadepb.Metric) int { return cmp.Compare(a.GetName(), b.GetName()) })
	for _, b := range batches {
		msg.BatchIds = append(msg.BatchIds, b.GetBatchId())
	}
	sum := sha256.Sum256(u.Checkpoint)
	msg.Checkpoint = &spadepb.Checkpoint{Sha256: sum[:], Bytes: int64(len(u.Checkpoint)), Format: u.Format}
	if len(u.Checkpoint) <= maxInline {
		msg.Checkpoint.Inline = u.Checkpoint
		return msg, "", nil
	}
	if t.Checkpoints == nil {
		return nil, "", fmt.Errorf("checkpoint is %d bytes, more than %d: set SPADE_CHECKPOINTS to where such are kept",
			len(u.Checkpoint), maxInline)
	}
	if uri, err = t.Checkpoints.Save(ctx, sum, u.Checkpoint); err != nil {
		return nil, "", fmt.Errorf("save checkpoint: %w", err)
	}
	return msg, uri, nil
}

func (t *Trainer) events(
	started time.Time, updated *spadepb.PolicyUpdated, uri, device string, batches ...*spadepb.BatchBuilt,
) ([]event.Event, error) {
	key := topics.RunKey(t.Run.ID)
	var events []event.Event
	add := func(subject uuid.UUID, msg proto.Message, uri string) error {
		obs := t.Source.Stamp(started)
		obs.Device, obs.CheckpointUri = device, uri
		ev, err := event.New(key, subject, 0, msg, obs)
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		events = append(events, ev)
		return nil
	}
	for _, b := range batches {
		if err := add(uuid.UUID(b.GetBatchId()), b, ""); err != nil {
			return nil, err
		}
	}
	if err := add(ids.Policy(t.Run.ID, updated.GetPolicyFrom()), updated, uri); err != nil {
		return nil, err
	}
	return events, nil
}
