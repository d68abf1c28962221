package app

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/analytics/migrations"
	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/outage"
	"github.com/seed256f7767/spade/schemas/topics"
)

// StartSinks starts the projections: the memory and the warehouse. They run until Close, which drains them.
func (s *Services) StartSinks(ctx context.Context) error {
	if err := s.openMemory(ctx); err != nil {
		return err
	}
	if err := s.openWarehouse(ctx); err != nil {
		return err
	}
	// The sinks outlive the call that starts them: Close ends them.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stopSinks = stop
	s.sinks, running = errgroup.WithContext(running)
	s.sinks.Go(func() error { return s.projectMemory(running) })
	s.sinks.Go(func() error { return s.runSink(running) })
	s.sinksContext = running
	return nil
}

// projectMemory projects the log into the memory, which must be open, until ctx ends, and rebuilds it where a rebuild was killed.
func (s *Services) projectMemory(ctx context.Context) error {
	err := s.mending(ctx, "memory", s.mendMemory, func(ctx context.Context) error {
		return s.Bus.Consume(ctx, s.memory.Group(), memory.Topics(), nil, s.memory.Handler())
	})
	return ended(ctx, "memory", err)
}

// projectWarehouse projects the log into the warehouse until ctx ends.
func (s *Services) projectWarehouse(ctx context.Context) error {
	if err := s.openWarehouse(ctx); err != nil {
		return err
	}
	return s.runSink(ctx)
}

func (s *Services) openMemory(ctx context.Context) error {
	return s.openMemoryBy(ctx, (*memory.Memory).Open)
}

// openMemoryBy opens the memory as open does, which may make what is missing or only look.
func (s *Services) openMemoryBy(ctx context.Context, open func(*memory.Memory, context.Context) error) error {
	if err := Answers(ctx, s.Log, "qdrant", s.Vectors.Ready); err != nil {
		return err
	}
	m, err := memory.New(memory.Settings{
		Store: s.tellVectors(s.Vectors), Embedder: s.Embedder, Poison: s.poison("memory"), Keep: s.Config.Embeddings.URL != "",
		Log: s.Bus, Source: observe.NewSource("memory"), Logger: s.Log, Identify: s.Bus.TopicIDs,
	})
	if err != nil {
		return err
	}
	if err := open(m, ctx); err != nil {
		return fmt.Errorf("open the memory: %w", err)
	}
	s.memory = &recall{Memory: m}
	return nil
}

func (s *Services) openWarehouse(ctx context.Context) error {
	if err := s.installTables(ctx); err != nil {
		return fmt.Errorf("install the warehouse's tables: %w", err)
	}
	set := warehouse.Settings{
		Logger: s.Log, Log: s.Bus, Store: warehouse.NewClickHouse(s.warehouse),
		Topics: topics.All(s.Config.Partitions), DeadLetter: s.poison("warehouse").Record,
	}
	if s.Config.Embeddings.URL == "" {
		set.Embedder = rowEmbedder{s.Embedder}
	}
	sink, err := warehouse.New(warehouse.NewDefaultConfig(), set)
	if err != nil {
		return err
	}
	s.sink = sink
	s.tellSink(sink)
	return nil
}

// installFor is how long a warehouse that does not answer is waited for: one that was killed comes back within seconds.
const installFor = 45 * time.Second

// installTables installs the tables, again and again while the server is on its way back: every statement may be repeated.
func (s *Services) installTables(ctx context.Context) error {
	began := time.Now()
	tries := outage.Tries{Log: s.Log, Failed: "the warehouse does not answer, waiting for it", Worked: "the warehouse answers"}
	for {
		err := migrations.Install(ctx, s.warehouse)
		if err == nil || !olap.Transient(err) || olap.Code(err) == olap.CodeDiskFull || time.Since(began) > installFor {
			if err == nil {
				tries.Succeeds(ctx)
			}
			return err
		}
		tries.Fails(ctx, olap.Code(err), "error", err)
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rowEmbedder is the embedder as the warehouse asks it.
type rowEmbedder struct{ embedding.Embedder }

// Embed returns one vector a text.
func (e rowEmbedder) Embed(ctx context.Context, texts []string, kind string) ([][]float32, error) {
	return e.Embedder.Embed(ctx, texts, embedding.Kind(kind))
}
