package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Settings is what a Memory works with. Keep, Log and Source may be left out
// together, Logger on its own.
type Settings struct {
	Store    Store
	Embedder embedding.Embedder
	Poison   Poison
	// Keep says that the embedder's vectors cannot be computed again and are kept
	// as events.
	Keep   bool
	Log    consumers.Appender
	Source *observe.Source
	Logger *slog.Logger
	// Identify returns the ids of topics, which tell a topic from another that had its name. Nil: they are not told apart.
	Identify func(ctx context.Context, topics ...string) (map[string]uuid.UUID, error)
}

// ErrMadeAgain: a topic was deleted and made again while it was read.
var ErrMadeAgain = errors.New("memory: the topic was deleted and made again")

// Store is the vector store as a memory uses it; *vector.Client is one. What a
// write stored is durable when it returns.
type Store interface {
	// EnsureLive makes the collections that are missing, FindLive only finds them; EnsureBeside makes empty ones beside
	// them, which Switch puts in their place and Sweep, which deletes what is not live, spares from then on. Discard deletes of
	// what is not live only what lay beside with that suffix.
	EnsureLive(ctx context.Context, all ...vector.Collection) ([]vector.Ensured, error)
	FindLive(ctx context.Context, all ...vector.Collection) ([]vector.Ensured, error)
	// Behind is the collection that is live now.
	Behind(ctx context.Context, c vector.Collection) (name string, err error)
	EnsureBeside(ctx context.Context, suffix string, all ...vector.Collection) ([]vector.Ensured, error)
	Switch(ctx context.Context, suffix string, all ...vector.Collection) error
	Leftovers(ctx context.Context, all ...vector.Collection) ([]string, error)
	Sweep(ctx context.Context, all ...vector.Collection) (deleted []string, err error)
	Discard(ctx context.Context, suffix string, all ...vector.Collection) (deleted []string, err error)
	// Insert stores the points whose ids are not there yet and leaves the others
	// as they are, in one step of the store's.
	Insert(ctx context.Context, collection string, points []vector.Point) error
	// Upsert stores points and replaces those that are there.
	Upsert(ctx context.Context, collection string, points []vector.Point) error
	Exists(ctx context.Context, collection string, ids ...uuid.UUID) (map[uuid.UUID]bool, error)
	Get(ctx context.Context, collection string, ids ...uuid.UUID) ([]vector.Hit, error)
	Search(ctx context.Context, collection string, v []float32, where vector.Condition, k int) ([]vector.Hit, error)
	Count(ctx context.Context, collection string, where vector.Condition) (int64, error)
	Scroll(ctx context.Context, collection string, where vector.Condition, fn func(vector.Hit) error) error
}

var _ Store = (*vector.Client)(nil)

// Poison keeps what cannot be projected.
type Poison interface {
	Event(ctx context.Context, ev event.Event, reason error) error
}

var _ Poison = (*deadletter.Writer)(nil)

// Memory is the environment memory and the document index of one vector store.
// Open it once; then it may be used concurrently.
type Memory struct {
	set          Settings
	environments vector.Ensured
	documents    vector.Ensured

	// Where reads look; see whole.
	readEnvironments, readDocuments *live
}

// New makes a memory; Open connects it.
func New(set Settings) (*Memory, error) {
	switch {
	case set.Store == nil || set.Embedder == nil || set.Poison == nil:
		return nil, errors.New("memory: store, embedder and poison are required")
	case set.Keep && (set.Log == nil || set.Source == nil):
		return nil, errors.New("memory: keeping vectors needs a log and a source")
	}
	if set.Logger == nil {
		set.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Memory{set: set}
	of := m.collections()
	m.readEnvironments, m.readDocuments = &live{of: of[0]}, &live{of: of[1]}
	return m, nil
}

// Payload keys that filters use.
const (
	keyRun       = "run_id"
	keyEnv       = "env_id"
	keyIteration = "iteration"
	keySlot      = "slot"
	keyKind      = "kind"
	keyDocument  = "document_id"
	keySource    = "source"
	keyWithdrawn = "withdrawn"
)

// Open makes the collections that are missing and checks the others.
func (m *Memory) Open(ctx context.Context) error { return m.open(ctx, m.set.Store.EnsureLive) }

// OpenAsIs is Open for who only reads: it makes nothing. Where the memory was never filled the error is
// vector.ErrNotFound.
func (m *Memory) OpenAsIs(ctx context.Context) error { return m.open(ctx, m.set.Store.FindLive) }

func (m *Memory) open(ctx context.Context, find func(context.Context, ...vector.Collection) ([]vector.Ensured, error)) error {
	all, err := find(ctx, m.collections()...)
	if err != nil {
		return err
	}
	m.environments, m.documents = all[0], all[1]
	m.set.Logger.Info("memory opened", "group", m.Group(), "environments", all[0].Points, "documents", all[1].Points)
	return nil
}

// collections are those of environments and of documents.
func (m *Memory) collections() []vector.Collection {
	e := m.set.Embedder
	return []vector.Collection{
		{Kind: "environments", Model: e.Model(), Dim: e.Dim(), Indexes: map[string]vector.IndexKind{
			keyRun: vector.KeywordIndex, keyEnv: vector.KeywordIndex, keyKind: vector.KeywordIndex,
			keyIteration: vector.IntegerIndex, keySlot: vector.IntegerIndex,
		}},
		{Kind: "documents", Model: e.Model(), Dim: e.Dim(), Indexes: map[string]vector.IndexKind{
			keyDocument: vector.KeywordIndex, keySource: vector.KeywordIndex, keyWithdrawn: vector.BoolIndex,
		}},
	}
}

// Group is the consumer group of the projection, valid after Open.
func (m *Memory) Group() string {
	sum := sha256.Sum256([]byte(m.environments.Generation + m.documents.Generation))
	return "spade.memory." + hex.EncodeToString(sum[:6])
}

// Topics are what the group reads.
func Topics() []string { return []string{topics.Documents, topics.Environments} }

// Handler projects the partitions that the group is given.
func (m *Memory) Handler() bus.Handler {
	return bus.HandlerFunc(func(ctx context.Context, claim *bus.Claim) (bus.Processor, error) {
		p := newProcessor(m, claim)
		if m.set.Identify == nil {
			return p, nil
		}
		ids, err := m.set.Identify(ctx, Topics()...)
		if err != nil {
			return nil, err
		}
		p.ids = ids
		return p, nil
	})
}
