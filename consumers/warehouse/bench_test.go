package warehouse

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

const (
	benchSteps    = 10
	benchRollouts = 120_000
)

// benchEvents is rollouts as a run of the native policy makes them: 10 steps, about 100 characters of observation each.
func benchEvents(b *testing.B, n int) []event.Event {
	b.Helper()
	run := uuid.UUID(testID("run", 1))
	events := make([]event.Event, 0, n)
	for i := range n {
		env := ids.Env(run, i/32/8, i/32%8, 0)
		id := ids.Rollout(env, ids.ArmPlain, i%32, 0)
		group := ids.Group(env, ids.ArmPlain, i%32)
		m := &spadepb.RolloutCompleted{
			RunId: run[:], EnvId: env[:], RolloutId: id[:], GroupId: group[:], Arm: ids.ArmPlain, SeedIndex: int32(i % 32), Outcome: "failed", Model: "native",
			FinalObservation: "You are in the last room. The door is closed.",
		}
		for j := range benchSteps {
			m.Steps = append(m.Steps, &spadepb.Step{
				Observation: fmt.Sprintf("Room %d of %d. You hold %d coins. Doors lead north and east; a sign says %s.", j, benchSteps, i*j, strings.Repeat("x", i%13)),
				InfoJson:    `{"actions":["north","east","take coin"]}`, Action: "take coin", Reward: 0.1, Logprob: -1.25,
				StateHash: append(id[:], group[:]...),
			})
		}
		ev, err := event.New(topics.EnvKey(run, env), id, 0, m, &spadepb.Observed{Worker: "rollout", SandboxTier: "full"})
		if err != nil {
			b.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// BenchmarkSink is the sink end to end: from the embedded broker into the embedded ClickHouse, from a standing start to the
// last row, and beside it the same blocks inserted by ArrowStream with nothing around them. They take turns, so that what else the
// machine does meets both.
func BenchmarkSink(b *testing.B) {
	const partitions = 4
	_, conn := olaptest.Start(b)
	events := benchEvents(b, benchRollouts)
	blocks := benchBlocks(b, events)
	broker := bustest.Start(b)
	client := broker.ClientWith(b, broker.Config(), bus.Settings{Check: event.Check})
	if err := client.EnsureTopics(b.Context(), topics.All(partitions)); err != nil {
		b.Fatal(err)
	}
	if err := client.Append(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	end := ends(b, client)
	var raw, sink spent
	for b.Loop() {
		olaptest.Reset(b, conn)
		store := NewClickHouse(conn)
		raw.add(b, func() { insertRaw(b, store, blocks) })
		olaptest.Reset(b, conn)
		s := busSink(b, client, NewClickHouse(conn), partitions)
		sink.add(b, func() {
			if err := s.Drain(b.Context(), end); err != nil {
				b.Fatal(err)
			}
		})
		b.Logf("%+v", s.Stats())
	}
	b.ReportMetric(sink.rate(b), "steps/s")
	b.ReportMetric(sink.perCPU(b), "steps/cpu-s")
	b.ReportMetric(raw.rate(b), "raw-steps/s")
	b.ReportMetric(raw.perCPU(b), "raw-steps/cpu-s")
	b.ReportMetric(raw.clock.Seconds()/sink.clock.Seconds(), "times-raw")
	b.ReportMetric(0, "ns/op")
}

// spent is what one side took: by the clock, and of processor time of this process and its children. The second says what the
// machine would do when nothing else ran on it.
type spent struct {
	clock time.Duration
	cpu   float64 // s
}

func (s *spent) add(b *testing.B, fn func()) {
	b.Helper()
	began, used := time.Now(), olaptest.CPUSeconds(b)
	fn()
	s.clock += time.Since(began)
	s.cpu += olaptest.CPUSeconds(b) - used
}

// rate is steps a second.
func (s *spent) rate(b *testing.B) float64 {
	return float64(benchSteps*benchRollouts*b.N) / s.clock.Seconds()
}

func (s *spent) perCPU(b *testing.B) float64 { return float64(benchSteps*benchRollouts*b.N) / s.cpu }

// benchBlocks is the events as the sink inserts them.
func benchBlocks(b *testing.B, events []event.Event) []tables.Block {
	b.Helper()
	c, err := tables.New()
	if err != nil {
		b.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, c, 0)
	b.Cleanup(set.Release)
	var blocks []tables.Block
	for i := range events {
		events[i].Topic = topics.Rollouts
		if _, err := set.AppendEncoded(&events[i]); err != nil {
			b.Fatal(err)
		}
		if (i+1)%(len(events)/24) == 0 {
			blocks = append(blocks, set.Blocks()...)
		}
	}
	b.Cleanup(func() {
		for _, block := range blocks {
			block.Record.Release()
		}
	})
	return blocks
}

func insertRaw(b *testing.B, store *ClickHouse, blocks []tables.Block) {
	b.Helper()
	for _, block := range blocks {
		// A token that was sent before would make the server pass the block by.
		if err := store.Insert(b.Context(), block.Table, rand.Text(), block.Record); err != nil {
			b.Fatal(err)
		}
	}
}
