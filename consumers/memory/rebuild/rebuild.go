package rebuild

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

// Stage is how far a rebuild is.
type Stage string

// The stages of a rebuild of the memory, in their order.
const (
	Preparing  Stage = "preparing"
	Filling    Stage = "filling"
	Switching  Stage = "switching"
	CatchingUp Stage = "catching up"
	Dropping   Stage = "dropping"
	Done       Stage = "done"
)

// Progress is how far a rebuild is, or, when it is done, what it did.
type Progress struct {
	Stage   Stage
	Records int64 // of the log that were read
	Total   int64 // records there are to read, as far as that is known
	Events  int64
	Dead    int64 // events that cannot be projected
}

// Memory rebuilds the memory, once.
type Memory struct {
	cfg    Config
	set    Settings
	log    *slog.Logger
	suffix string
	beside *memory.Memory
	parts  []*part

	stage          atomic.Value // Stage
	records, total atomic.Int64
	events, unfit  atomic.Int64
}

// part is one partition number of the topics that the memory reads.
type part struct {
	number     int32
	tails      []*bus.Tail // by topic
	targets    []int64
	projection *memory.Projection
}

// New makes a rebuild. It does no I/O.
func New(cfg Config, set Settings) (*Memory, error) {
	if err := errors.Join(cfg.Validate(), set.validate()); err != nil {
		return nil, err
	}
	var name [4]byte
	_, _ = rand.Read(name[:]) // never fails
	m := &Memory{cfg: cfg.withDefaults(), set: set, log: set.Logger, suffix: hex.EncodeToString(name[:])}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.stage.Store(Preparing)
	return m, nil
}

// Progress may be called at any time.
func (m *Memory) Progress() Progress {
	return Progress{
		Stage: m.stage.Load().(Stage), Records: m.records.Load(), Total: m.total.Load(), Events: m.events.Load(), Dead: m.unfit.Load(),
	}
}

// Run fills collections beside the live ones, switches to them, reads on to what the log is by then, and deletes the old ones.
// One that is killed before the switch leaves collections that the next Run deletes; one that is broken off after it may leave points
// missing that were written meanwhile, until the next Run. Both leave collections that are not live: whoever projects looks for them
// and runs it again. They say that there is something to mend, and so they stay until a Run has come to its end.
func (m *Memory) Run(ctx context.Context) error {
	for _, step := range []struct {
		stage Stage
		do    func(context.Context) error
	}{
		{Preparing, m.prepare},
		{Filling, m.fill},
		{Switching, func(ctx context.Context) error { return m.set.Memory.Switch(ctx, m.suffix) }},
		{CatchingUp, m.pass},
		{Dropping, m.sweep},
	} {
		m.stage.Store(step.stage)
		m.log.Info("rebuild of the memory", "stage", string(step.stage), "collections", m.suffix)
		if err := step.do(ctx); err != nil {
			return m.broken(ctx, step.stage, err)
		}
	}
	m.stage.Store(Done)
	return nil
}

// undoFor is how long taking back what was begun may take once the rebuild is broken off.
const undoFor = 30 * time.Second

func (m *Memory) broken(ctx context.Context, at Stage, cause error) error {
	cause = fmt.Errorf("rebuild the memory: %s: %w", at, cause)
	switch at {
	case CatchingUp, Dropping:
		return fmt.Errorf("%w; it was switched to already, run it again", cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoFor)
	defer cancel()
	return errors.Join(cause, m.told(m.set.Memory.Discard(ctx, m.suffix)))
}

func (m *Memory) sweep(ctx context.Context) error { return m.told(m.set.Memory.Sweep(ctx)) }

// told logs what was deleted.
func (m *Memory) told(deleted []string, err error) error {
	if len(deleted) > 0 {
		m.log.Info("collections deleted", "names", deleted)
	}
	return err
}

func (m *Memory) prepare(ctx context.Context) (err error) {
	m.beside, err = m.set.Memory.Beside(ctx, m.suffix, memory.PoisonFunc(func(context.Context, event.Event, error) error {
		m.unfit.Add(1) // the live projection keeps it
		return nil
	}))
	if err != nil {
		return err
	}
	byNumber := map[int32]*part{}
	for _, topic := range memory.Topics() {
		first, err := m.set.Log.FirstOffsets(ctx, topic)
		if err != nil {
			return err
		}
		for p, offset := range first {
			if byNumber[p] == nil {
				byNumber[p] = &part{number: p, projection: m.beside.Projection()}
				m.parts = append(m.parts, byNumber[p])
			}
			byNumber[p].tails = append(byNumber[p].tails, m.set.Log.Tail(topic, p, offset))
		}
	}
	return nil
}

// aim sets the targets to the end of the log and says how many records are left.
func (m *Memory) aim(ctx context.Context) (left int64, err error) {
	for _, p := range m.parts {
		p.targets = p.targets[:0]
	}
	for i, topic := range memory.Topics() {
		ends, err := m.set.Log.HighWatermarks(ctx, topic)
		if err != nil {
			return 0, err
		}
		for _, p := range m.parts {
			if i < len(p.tails) {
				p.targets = append(p.targets, ends[p.number])
				left += max(0, ends[p.number]-p.tails[i].Next())
			}
		}
	}
	m.total.Store(m.records.Load() + left)
	return left, nil
}

const (
	// nearEnd is how many records may be left when the memory is switched.
	nearEnd = 10_000
	// maxPasses bounds how often a log that grows as fast as it is read is followed before it is.
	maxPasses = 10
)

func (m *Memory) fill(ctx context.Context) error {
	for range maxPasses {
		if err := m.pass(ctx); err != nil {
			return err
		}
		left, err := m.aim(ctx)
		if err != nil || left <= nearEnd {
			return err
		}
	}
	return nil
}

// pass reads to the end of the log, several partitions side by side.
func (m *Memory) pass(ctx context.Context) error {
	if _, err := m.aim(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(m.cfg.Parallel)
	for _, p := range m.parts {
		g.Go(func() error { return m.read(ctx, p) })
	}
	return g.Wait()
}

// Batches of a rebuild.
const (
	batchEvents = 512
	batchBytes  = 4 << 20
)

// read projects a partition of one topic after the other. The order does not matter: what belongs together has the same key
// within its topic.
func (m *Memory) read(ctx context.Context, p *part) error {
	for i, topic := range memory.Topics()[:len(p.tails)] {
		tail, target := p.tails[i], p.targets[i]
		if target <= tail.Next() {
			continue
		}
		b := bus.Batch{Topic: topic, Partition: p.number, End: target}
		last, bytes := tail.Next(), 0
		process := func(next int64) error {
			b.Next = next
			if err := p.projection.Process(ctx, b); err != nil {
				return err
			}
			m.events.Add(int64(len(b.Events)))
			m.records.Add(next - last)
			last, bytes, b.Events = next, 0, nil
			return nil
		}
		err := tail.ReadTo(ctx, target, func(ev event.Event) error {
			b.Events = append(b.Events, ev)
			if bytes += len(ev.Payload); len(b.Events) < batchEvents && bytes < batchBytes {
				return nil
			}
			return process(ev.LastOffset + 1)
		})
		if err == nil {
			err = process(target)
		}
		if err != nil {
			return fmt.Errorf("%s/%d: %w", topic, p.number, err)
		}
	}
	return nil
}
