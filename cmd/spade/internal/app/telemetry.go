package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/telemetry"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
)

// Tell has others see what these services do: by metrics and health in watch, by spans in traced. Either may be nil. It must
// be called before anything is started with the services.
func (s *Services) Tell(watch *telemetry.Process, traced func([]event.Event)) {
	s.told = watch
	if watch == nil && traced == nil {
		return
	}
	s.Bus.OnAppend(func(events []event.Event) {
		watch.Appended(events)
		if traced != nil {
			traced(events)
		}
	})
	watch.Add(func(m telemetry.Sample) { sampleSandbox(m, s.sandbox.Stats()) })
	watch.Watch(s.Bus)
}

func sampleSandbox(m telemetry.Sample, s gym.Stats) {
	m.Value(telemetry.SandboxSlots, float64(s.Slots))
	m.Value(telemetry.SandboxWaiting, float64(s.Waiting))
	for runtime, n := range s.Open {
		m.Value(telemetry.SandboxOpen, float64(n), runtime)
	}
	for runtime, n := range s.Started {
		m.Value(telemetry.SandboxStarted, float64(n), runtime)
	}
	for runtime, n := range s.Failed {
		m.Value(telemetry.SandboxFailed, float64(n), runtime)
	}
	for death, n := range s.Killed {
		m.Value(telemetry.SandboxKilled, float64(n), death.Runtime, string(death.Cause))
	}
}

// startPool starts a pool for two environments a core that are worked on at once.
func (s *Services) startPool(ctx context.Context, c config.Config, sets []string) (*gym.Pool, error) {
	return startPool(ctx, c, 2*s.parallelism(), sets, gym.Settings{Logger: s.Log, Meter: &s.sandbox})
}

// tellSink has others see what a sink does.
func (s *Services) tellSink(sink *warehouse.Sink) {
	s.told.Add(func(m telemetry.Sample) {
		st := sink.Stats()
		for name, n := range map[string]int64{
			telemetry.WarehouseEvents: st.Events, telemetry.WarehouseRows: st.Rows, telemetry.WarehouseFlushes: st.Flushes,
			telemetry.WarehouseRepeats: st.Repeats, telemetry.WarehouseRepaired: st.Repaired,
			telemetry.WarehouseFenced: st.Fenced, telemetry.WarehouseRetries: st.Retries,
		} {
			m.Value(name, float64(n))
		}
		m.Distribution(telemetry.WarehouseFlush, st.FlushTime)
	})
}

// tellVectors has others see what the memory writes.
func (s *Services) tellVectors(store memory.Store) memory.Store {
	w := &timedVectors{Store: store, took: observe.NewHistogram(observe.Fast)}
	s.told.Add(func(m telemetry.Sample) {
		m.Value(telemetry.MemoryPoints, float64(w.points.Load()))
		m.Distribution(telemetry.MemoryFlush, w.took.Snapshot())
	})
	return w
}

// timedVectors is a vector store whose writes are counted and timed.
type timedVectors struct {
	memory.Store
	points atomic.Int64
	took   *observe.Histogram
}

// Insert stores points that are not there yet.
func (v *timedVectors) Insert(ctx context.Context, collection string, points []vector.Point) error {
	return v.write(points, func() error { return v.Store.Insert(ctx, collection, points) })
}

// Upsert stores points.
func (v *timedVectors) Upsert(ctx context.Context, collection string, points []vector.Point) error {
	return v.write(points, func() error { return v.Store.Upsert(ctx, collection, points) })
}

func (v *timedVectors) write(points []vector.Point, fn func() error) error {
	started := time.Now()
	if err := fn(); err != nil {
		return err
	}
	v.points.Add(int64(len(points)))
	v.took.Since(started)
	return nil
}

// timed is a policy whose answers are timed.
type timed struct {
	policy.Generator
	told *telemetry.Process
}

// Generate asks the policy.
func (g timed) Generate(
	ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt,
) ([]policy.Completion, error) {
	started := time.Now()
	out, err := g.Generator.Generate(ctx, role, version, prompts)
	if ctx.Err() == nil {
		g.told.Generated(string(role), started, err)
	}
	return out, err
}
