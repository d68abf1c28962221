package memory

import (
	"context"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

// Beside makes empty collections beside the live ones and a memory on them, which its projections fill while the live ones
// are used. Switch puts them in the place of the live ones. Events that cannot be projected go to poison.
func (m *Memory) Beside(ctx context.Context, suffix string, poison Poison) (*Memory, error) {
	all, err := m.set.Store.EnsureBeside(ctx, suffix, m.collections()...)
	if err != nil {
		return nil, err
	}
	out := &Memory{set: m.set, environments: all[0], documents: all[1], readEnvironments: m.readEnvironments, readDocuments: m.readDocuments}
	out.set.Poison = poison
	return out, nil
}

// Switch makes the collections of Beside the live ones, both at the same moment. The generation stays what it was, and with
// it the consumer group: processes that project or read notice nothing. What they wrote into the old collections since the
// new ones were filled is missing until the log is read on.
func (m *Memory) Switch(ctx context.Context, suffix string) error {
	return m.set.Store.Switch(ctx, suffix, m.collections()...)
}

// Sweep deletes the collections that are not live: what Switch replaced, or what was never switched to.
func (m *Memory) Sweep(ctx context.Context) (deleted []string, err error) {
	return m.set.Store.Sweep(ctx, m.collections()...)
}

// Discard deletes the collections of Beside, unless they are live.
func (m *Memory) Discard(ctx context.Context, suffix string) (deleted []string, err error) {
	return m.set.Store.Discard(ctx, suffix, m.collections()...)
}

// Leftovers are what Sweep would delete. While no rebuild runs there are some only where one was killed: before its switch, which
// does no harm, or after it, and then points may be missing that were written while it switched.
func (m *Memory) Leftovers(ctx context.Context) ([]string, error) {
	return m.set.Store.Leftovers(ctx, m.collections()...)
}

// Projection projects one partition number without a consumer group. It is used by one goroutine.
type Projection struct{ p *processor }

// Projection begins with no event read.
func (m *Memory) Projection() *Projection { return &Projection{newProcessor(m, uncommitted{})} }

// Process writes the points that follow from the batch, which is the next one of its topic.
func (p *Projection) Process(ctx context.Context, b bus.Batch) error { return p.p.Process(ctx, b) }

// uncommitted has no offsets to commit.
type uncommitted struct{}

func (uncommitted) Commit(string, int64) error { return nil }

// PoisonFunc is a function that is a Poison.
type PoisonFunc func(ctx context.Context, ev event.Event, reason error) error

// Event calls the function.
func (f PoisonFunc) Event(ctx context.Context, ev event.Event, reason error) error {
	return f(ctx, ev, reason)
}
