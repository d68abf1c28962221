package verify

import (
	"context"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// episodesPerEnv is how many rollouts the benchmark's environments have.
const episodesPerEnv = 32

// generated is a log of one run with n episodes in each partition of spade.rollouts. Its records are made while it is read,
// so that only what a scan keeps is in memory.
type generated struct {
	tb         testing.TB
	partitions int32
	n          int
	payload    *spadepb.RolloutCompleted
}

// HighWatermarks implements Source.
func (g generated) HighWatermarks(_ context.Context, topic string) (map[int32]int64, error) {
	ends := map[int32]int64{}
	for p := range g.partitions {
		switch topic {
		case topics.Environments:
			ends[p] = int64(2 * g.n / episodesPerEnv)
		case topics.Rollouts:
			ends[p] = int64(g.n)
		}
	}
	if topic == topics.Runs {
		return map[int32]int64{0: 1}, nil
	}
	return ends, nil
}

// Assembler implements Source.
func (g generated) Assembler(string) event.Assembler { return event.Assembler{Check: event.Check} }

// ReadRecords implements Source.
func (g generated) ReadRecords(_ context.Context, topic string, _, to map[int32]int64, fn func(event.Record) error) error {
	run := storyRun()
	for p, end := range to {
		for at := range end {
			env := ids.Env(run, 0, int(p)<<24|int(at)/episodesPerEnv, 0)
			var err error
			switch topic {
			case topics.Runs:
				err = g.give(fn, p, at, topics.RunKey(run), run, &spadepb.RunStarted{
					RunId: run[:], Name: "bench", Kind: runs.KindTrain, Config: &spadepb.SemanticConfig{Iterations: 1, Designs: 1},
				})
			case topics.Environments:
				env = ids.Env(run, 0, int(p)<<24|int(at)/2, 0)
				key := topics.EnvKey(run, env)
				if at%2 == 0 {
					err = g.give(fn, p, at, key, env, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: env[:], Slot: p<<24 | int32(at/2)})
				} else {
					err = g.give(fn, p, at, key, env, &spadepb.EnvironmentAccepted{
						RunId: run[:], EnvId: env[:], Slot: p<<24 | int32(at/2), ExpectedPlain: episodesPerEnv, Repeats: episodesPerEnv, EnvSeeds: []uint64{1},
					})
				}
			case topics.Rollouts:
				repeat := int(at) % episodesPerEnv
				id := ids.Rollout(env, ids.ArmPlain, 0, repeat)
				m := g.payload
				m.RunId, m.RolloutId, m.EnvId, m.Arm, m.Repeat = run[:], id[:], env[:], ids.ArmPlain, int32(repeat)
				err = g.give(fn, p, at, topics.EnvKey(run, env), id, m)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (g generated) give(fn func(event.Record) error, p int32, at int64, key string, subject uuid.UUID, msg proto.Message) error {
	ev, err := event.New(key, subject, 0, msg, nil)
	if err != nil {
		return err
	}
	records, err := event.Encode(ev, 0, uuid.UUID(binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(at))))
	if err != nil {
		return err
	}
	r := records[0]
	r.Partition, r.Offset = p, at
	return fn(r)
}

// BenchmarkScan reads 8 partitions of 50,000 episodes of a run. bytes/event is what the scan holds when it has read them
// all: of the partition that it is in, the ids, and of the run, its environments.
func BenchmarkScan(b *testing.B) {
	g := generated{tb: b, partitions: 8, n: 50_000, payload: &spadepb.RolloutCompleted{
		Outcome: "failed", FinalObservation: "The door is shut.",
		Steps: []*spadepb.Step{{Observation: "A door.", Action: "knock"}, {Observation: "Somebody answers.", Action: "open", Terminated: true}},
	}}
	cut, err := Ends(b.Context(), g)
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	for b.Loop() {
		var report Report
		l := NewRunLog(uuid.Nil, cut, &report)
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := (Scan{Cut: cut}).Run(b.Context(), g, l, &heap{at: &after}); err != nil {
			b.Fatal(err)
		}
		if l.Counts.Records != cut.Records(nil) {
			b.Fatalf("%d events of %d", l.Counts.Records, cut.Records(nil))
		}
	}
	events := float64(cut.Records(nil))
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/events, "bytes/event")
}

// heap looks at the heap at the end of each partition, before what the scan keeps of it is dropped.
type heap struct{ at *runtime.MemStats }

// Add implements Check.
func (*heap) Add(context.Context, *Entry) error { return nil }

// Partition implements Check.
func (h *heap) Partition(context.Context) error {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if now.HeapAlloc > h.at.HeapAlloc {
		*h.at = now
	}
	return nil
}
