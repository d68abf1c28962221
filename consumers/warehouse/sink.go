package warehouse

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/arena"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Sink writes the log into the warehouse. Its methods may be called concurrently.
type Sink struct {
	cfg       Config
	set       Settings
	log       *slog.Logger
	catalogue *tables.Catalogue
	cut       int                 // see cutBytes; tests set it
	fullFor   time.Duration       // see fullFor; tests set it
	groups    map[string][]string // topics by consumer group
	flushing  *semaphore.Weighted
	progress  *progress
	stats     counters
}

// New makes a sink. It does no I/O; the tables must exist when Run is called.
func New(cfg Config, set Settings) (*Sink, error) {
	if err := errors.Join(cfg.Validate(), set.validate()); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	if set.Memory == nil {
		set.Memory = arena.New()
	}
	s := &Sink{
		cfg: cfg, set: set, log: set.Logger, catalogue: catalogue,
		cut:      cutBytes,
		fullFor:  fullFor,
		groups:   Groups(set.Topics),
		flushing: semaphore.NewWeighted(int64(cfg.Parallel)),
		progress: newProgress(),
		stats:    counters{flushTime: observe.NewHistogram(observe.Fast)},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// Run consumes until ctx ends, which returns nil after what was gathered is flushed, or something fails for good.
func (s *Sink) Run(ctx context.Context) error {
	err := s.run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *Sink) run(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for group, names := range s.groups {
		wg.Go(func() {
			err := s.set.Log.Consume(ctx, group, names, nil, bus.HandlerFunc(s.assigned))
			if err != nil {
				cancel()
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("warehouse: %w", err)
	}
	return nil
}

// Drain runs until the warehouse holds everything before the positions, and stops.
func (s *Sink) Drain(ctx context.Context, positions bus.Positions) error {
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Run(run) }()
	wait, stopWait := context.WithCancel(ctx)
	defer stopWait()
	reached := make(chan error, 1)
	go func() { reached <- s.WaitFor(wait, positions) }()
	select {
	case err := <-reached:
		cancel()
		return errors.Join(err, <-done)
	case err := <-done:
		stopWait()
		if waited := <-reached; err == nil {
			err = waited
		}
		return err
	}
}

// check refuses a warehouse that is ahead of the log, or that cannot recognise what it is given twice.
func (s *Sink) check(ctx context.Context) error {
	if err := s.checkWindows(ctx); err != nil {
		return err
	}
	for group, names := range s.groups {
		if err := s.checkTopics(ctx, group, names); err != nil {
			return err
		}
		positions, err := s.set.Store.Positions(ctx, group)
		if err != nil {
			return fmt.Errorf("warehouse: read positions: %w", err)
		}
		for _, topic := range names {
			if len(positions[topic]) == 0 {
				continue
			}
			ends, err := s.set.Log.HighWatermarks(ctx, topic)
			if err != nil {
				return fmt.Errorf("warehouse: %w", err)
			}
			for p, next := range positions[topic] {
				if next > ends[p] {
					return otherLog(Place{topic, p}, next, ends[p])
				}
				s.progress.advance(Place{topic, p}, next)
			}
		}
	}
	return nil
}

// checkTopics refuses topics that were made again since the warehouse was filled from their like. Partitions look again when they
// are opened and before they flush.
func (s *Sink) checkTopics(ctx context.Context, group string, names []string) error {
	was, err := s.set.Store.Incarnations(ctx, group)
	if err != nil {
		return fmt.Errorf("warehouse: read positions: %w", err)
	}
	is, err := s.set.Log.TopicIDs(ctx, names...)
	if err != nil {
		return fmt.Errorf("warehouse: %w", err)
	}
	for _, topic := range names {
		if id, ok := is[topic]; ok && was[topic] != "" && was[topic] != id.String() {
			return madeAgain(topic, was[topic], id.String())
		}
	}
	return nil
}

// behind says what a wait that ended too early still lacked.
func (s *Sink) behind(ctx context.Context, want map[Place]int64) error {
	places := make([]Place, 0, len(want))
	for p := range want {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	p := places[0]
	return fmt.Errorf("warehouse: %d partitions are behind, the first is %s/%d before offset %d: %w",
		len(want), p.Topic, p.Partition, want[p], ctx.Err())
}

// token makes a writer's token: random, so that no two writers ever have the same, and not 0, which means nobody.
func token() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:]) | 1
}
