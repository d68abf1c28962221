package warehouse

import (
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
	benchRollouts = 40_000
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
			RunId: run[:], EnvId: env[:], RolloutId: id[:], GroupId: group[:], Arm: ids.ArmPlain, Outcome: "failed", Model: "native",
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
// last row, against the same blocks inserted by ArrowStream with nothing around them.
func BenchmarkSink(b *testing.B) {
	const partitions = 4
	_, conn := olaptest.Start(b)
	events := benchEvents(b, benchRollouts)
	b.Run("raw", func(b *testing.B) { benchRaw(b, NewClickHouse(conn), events) })
	b.Run("sink", func(b *testing.B) {
		broker := bustest.Start(b)
		client := broker.ClientWith(b, broker.Config(), bus.Settings{Check: event.Check})
		if err := client.EnsureTopics(b.Context(), topics.All(partitions)); err != nil {
			b.Fatal(err)
		}
		if err := client.Append(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
		end := ends(b, client)
		cpu := 0.0
		for b.Loop() {
			b.StopTimer()
			olaptest.Reset(b, conn)
			s := busSink(b, client, NewClickHouse(conn), partitions)
			b.StartTimer()
			start, used := time.Now(), olaptest.CPUSeconds(b)
			if err := s.Drain(b.Context(), end); err != nil {
				b.Fatal(err)
			}
			cpu += olaptest.CPUSeconds(b) - used
			b.Logf("%+v in %s", s.Stats(), time.Since(start))
		}
		report(b, benchRollouts, cpu)
	})
}

// report gives steps per second of the clock, and per second of processor time of this process and its children: the second
// says what the machine would do when nothing else ran on it.
func report(b *testing.B, rollouts int, cpu float64) {
	b.Helper()
	steps := float64(benchSteps * rollouts * b.N)
	b.ReportMetric(steps/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(steps/cpu, "steps/cpu-s")
}

func benchRaw(b *testing.B, store *ClickHouse, events []event.Event) {
	b.Helper()
	c, err := tables.New()
	if err != nil {
		b.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, c, 0)
	defer set.Release()
	var blocks []tables.Block
	for i := range events {
		msg, err := events[i].Message()
		if err != nil {
			b.Fatal(err)
		}
		events[i].Topic = topics.Rollouts
		if err := set.Append(&events[i], msg); err != nil {
			b.Fatal(err)
		}
		if (i+1)%(len(events)/8) == 0 {
			blocks = append(blocks, set.Blocks()...)
		}
	}
	b.ResetTimer()
	used := olaptest.CPUSeconds(b)
	n := 0
	for b.Loop() {
		for _, block := range blocks {
			n++
			if err := store.Insert(b.Context(), block.Table, fmt.Sprint("raw", n), block.Record); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, len(events), olaptest.CPUSeconds(b)-used)
	for _, block := range blocks {
		block.Record.Release()
	}
}
