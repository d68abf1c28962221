package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/topics"
)

// projected is how far the projections have come.
type projected struct {
	// warehouse and memory are offsets before which everything must be there.
	warehouse, memory verify.Positions
	live              bool
}

// lag counts the events of a scan that a projection has not come to. Where it stands is no measure of its own: it also stands
// before records that yield nothing, as the beginning of an event whose writer died.
type lag struct {
	at     verify.Positions
	events int64
}

// Add implements verify.Check.
func (l *lag) Add(_ context.Context, e *verify.Entry) error {
	// Letters are written on the way to the cut, also by the projections themselves.
	if e.Err == nil && e.First && e.Topic != topics.DeadLetters && e.LastOffset >= l.at[e.Topic][e.Partition] {
		l.events++
	}
	return nil
}

// Partition implements verify.Check.
func (*lag) Partition(context.Context) error { return nil }

// project brings the projections up to a cut, or as near as the processes that fill them have come. As they are it leaves
// them where they stand.
func (s *Services) project(ctx context.Context, cut verify.Cut, asIs bool) (p projected, err error) {
	patience, holding := patience, holding
	if asIs {
		patience, holding = 0, 0
		p.live, err = s.lookAtProjections(ctx)
	} else {
		p.live, err = s.fillProjections(ctx)
	}
	if err != nil {
		return projected{}, err
	}
	p.warehouse, err = s.approach(ctx, cut.Ends, patience, s.warehousePositions)
	if code := olap.Code(err); code == olap.CodeUnknownTable || code == olap.CodeUnknownDatabase {
		return projected{}, fmt.Errorf("%w: the warehouse has no tables", ErrNeverFilled)
	}
	if err != nil {
		return projected{}, fmt.Errorf("see how far the warehouse is: %w", err)
	}
	p.warehouse = within(cut.Ends, p.warehouse)
	of := verify.Positions{}
	for _, topic := range memory.Topics() {
		of[topic] = cut.Ends[topic]
	}
	p.memory, err = s.approach(ctx, of, holding, s.memoryPositions)
	if err != nil {
		return projected{}, fmt.Errorf("see how far the memory is: %w", err)
	}
	if missing(of, p.memory) == 0 {
		p.memory = nil
	}
	return p, nil
}

// fillProjections starts the projections in this process unless one or another runs them, which live says.
func (s *Services) fillProjections(ctx context.Context) (live bool, err error) {
	if s.sinks != nil {
		return false, nil
	}
	if live, err = s.projectedElsewhere(ctx); err != nil {
		return false, err
	}
	if !live {
		return false, s.StartSinks(ctx)
	}
	return true, errors.Join(s.openMemory(ctx), s.openWarehouse(ctx))
}

// lookAtProjections opens the projections to be read: it joins no group and writes nothing. live says that another process
// fills them.
func (s *Services) lookAtProjections(ctx context.Context) (live bool, err error) {
	if err := s.openMemoryBy(ctx, (*memory.Memory).OpenAsIs); errors.Is(err, vector.ErrNotFound) {
		return false, fmt.Errorf("%w: the memory has no collections", ErrNeverFilled)
	} else if err != nil {
		return false, err
	}
	return s.projectedElsewhere(ctx)
}

// ErrNeverFilled: what is to be looked at as it is is not there yet.
var ErrNeverFilled = errors.New("nothing of the log was written yet")

// projectedElsewhere reports whether a process fills the warehouse.
func (s *Services) projectedElsewhere(ctx context.Context) (bool, error) {
	for _, group := range s.warehouseGroups() {
		n, err := s.Bus.Members(ctx, group)
		if n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// warehouseGroups are the consumer groups of the sink.
func (s *Services) warehouseGroups() []string {
	return slices.Sorted(maps.Keys(warehouse.Groups(topics.All(s.Config.Partitions))))
}

func (s *Services) warehousePositions(ctx context.Context) (verify.Positions, error) {
	out := verify.Positions{}
	store := warehouse.NewClickHouse(s.warehouse)
	for _, group := range s.warehouseGroups() {
		positions, err := store.Positions(ctx, group)
		if err != nil {
			return nil, err
		}
		for topic, parts := range positions {
			out[topic] = parts
		}
	}
	return out, nil
}

func (s *Services) memoryPositions(ctx context.Context) (verify.Positions, error) {
	out := verify.Positions{}
	for _, topic := range memory.Topics() {
		offsets, err := s.Bus.CommittedOffsets(ctx, s.memory.Group(), topic)
		if err != nil {
			return nil, err
		}
		out[topic] = offsets
	}
	return out, nil
}

const (
	// approachEvery is how often a projection is asked how far it is.
	approachEvery = 200 * time.Millisecond
	// patience is how long the warehouse is waited for when it comes no nearer: its group may be giving up a member that died.
	patience = 15 * time.Second
	// holding is the memory's patience: it may stand where it does because a design has no verdict yet.
	holding = 5 * time.Second
)

// approach waits until a projection has come to the ends, or comes no nearer.
func (s *Services) approach(
	ctx context.Context, ends verify.Positions, patience time.Duration, ask func(context.Context) (verify.Positions, error),
) (verify.Positions, error) {
	least, nearer := int64(-1), time.Now()
	for {
		at, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		left := missing(ends, at)
		if left == 0 {
			return at, nil
		}
		if least < 0 || left < least {
			least, nearer = left, time.Now()
		}
		if time.Since(nearer) >= patience {
			return at, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.sinkFailed():
			return nil, errProjectionEnded
		case <-time.After(approachEvery):
		}
	}
}

// sinkFailed is closed when a projection of this process has ended; it is nil when there is none.
func (s *Services) sinkFailed() <-chan struct{} {
	if s.sinks == nil {
		return nil
	}
	return s.sinksContext.Done()
}

// within is how far a projection has come of what lies before the ends.
func within(ends, at verify.Positions) verify.Positions {
	out := verify.Positions{}
	for topic, parts := range ends {
		out[topic] = map[int32]int64{}
		for p, end := range parts {
			out[topic][p] = min(end, at[topic][p])
		}
	}
	return out
}

// missing is how many records lie between a position and the ends.
func missing(ends, at verify.Positions) int64 {
	var n int64
	for topic, parts := range ends {
		for p, end := range parts {
			n += max(0, end-at[topic][p])
		}
	}
	return n
}

var _ verify.Source = (*bus.Client)(nil)
