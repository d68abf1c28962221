package rebuild

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/analytics/migrations"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// maker makes the events of a run without end, in the order in which a run appends them. Sizes and proportions are those of a
// run of the native policy: five designs a kept one, sixteen episodes an arm, eight steps an episode.
type maker struct {
	tb     testing.TB
	run    uuid.UUID
	number int // of designs
	events []event.Event
}

func newMaker(tb testing.TB) *maker { return &maker{tb: tb, run: ids.Run("bench")} }

func (m *maker) add(env, subject uuid.UUID, msg proto.Message) {
	m.tb.Helper()
	ev, err := event.New(topics.EnvKey(m.run, env), subject, 0, msg, &spadepb.Observed{Worker: "w", SandboxTier: "full", DurationUs: 1500})
	if err != nil {
		m.tb.Fatal(err)
	}
	m.events = append(m.events, ev)
}

// take hands out what was made.
func (m *maker) take() []event.Event {
	out := m.events
	m.events = nil
	return out
}

// environment makes what one design leads to.
func (m *maker) environment() {
	r := m.run[:]
	env := ids.Env(m.run, m.number/8, m.number%8, 0)
	kept := m.number%5 == 0
	m.number++
	m.add(env, env, &spadepb.DesignRequested{RunId: r, EnvId: env[:], Iteration: int32(m.number / 8), Slot: int32(m.number % 8)})
	m.add(env, env, &spadepb.EnvironmentDesigned{
		RunId: r, EnvId: env[:], Runtime: "starlark", Code: strings.Repeat("def step(state, action): return state\n", 60), Prompt: []*spadepb.ChatMessage{{Role: "user", Content: strings.Repeat("prompt ", 200)}},
		Documents: []*spadepb.Attribution{{DocumentId: env[:], Score: 0.5}}, Recalled: []*spadepb.Neighbour{{EnvId: env[:]}},
	})
	if !kept {
		m.add(env, env, &spadepb.EnvironmentRejected{RunId: r, EnvId: env[:], Stage: "duplicate", Reason: "it is near to another one"})
		return
	}
	m.add(env, env, &spadepb.EnvironmentAccepted{RunId: r, EnvId: env[:], Title: "Doors", Kind: "game", Novelty: 0.5, ExpectedPlain: 16, ExpectedHinted: 16})
	for _, arm := range []string{ids.ArmPlain, ids.ArmHinted} {
		for i := range 16 {
			m.rollout(env, arm, i)
		}
	}
	m.add(env, env, &spadepb.RegretEstimated{RunId: r, EnvId: env[:], Iteration: int32(m.number / 8)})
	m.add(env, env, &spadepb.DesignerRewarded{RunId: r, EnvId: env[:], Iteration: int32(m.number / 8), Reward: 0.5})
}

func (m *maker) rollout(env uuid.UUID, arm string, i int) {
	id := ids.Rollout(env, arm, i, 0)
	msg := &spadepb.RolloutCompleted{
		RunId: m.run[:], EnvId: env[:], RolloutId: id[:], Arm: arm, SeedIndex: int32(i), Outcome: "failed", Model: "native", FinalObservation: "You are in the last room.",
	}
	for j := range 8 {
		msg.Steps = append(msg.Steps, &spadepb.Step{
			Observation: fmt.Sprintf("Room %d. You hold %d coins. Doors lead north and east.", j, i*j), InfoJson: `{"actions":["north","east","take coin"]}`,
			Action: "take coin", Reward: 0.125, Logprob: -1.25, StateHash: append(id[:], id[:]...),
		})
	}
	m.add(env, id, msg)
}

// small makes events of one row each.
func (m *maker) small(n int) {
	for range n {
		env := ids.Env(m.run, m.number/64, m.number/8%8, 0)
		id := ids.Rollout(env, ids.ArmPlain, m.number, 0)
		m.add(env, id, &spadepb.RolloutDropped{
			RunId: m.run[:], EnvId: env[:], RolloutId: id[:], Arm: ids.ArmPlain, SeedIndex: int32(m.number), Reason: "stale", Staleness: 2,
		})
		m.number++
	}
}

// fillLog appends what make makes until there are n events.
func fillLog(tb testing.TB, log *bus.Client, n int, m *maker, more func()) {
	tb.Helper()
	for done := 0; done < n; {
		for len(m.events) < 2000 {
			more()
		}
		events := m.take()
		if err := log.Append(tb.Context(), events...); err != nil {
			tb.Fatal(err)
		}
		done += len(events)
	}
}

// BenchmarkRebuild rebuilds the warehouse from logs of a run's events and of small ones, each beside reading the same log
// and nothing else.
func BenchmarkRebuild(b *testing.B) {
	for _, tc := range []struct {
		name   string
		events int
		more   func(*maker)
	}{
		{"mixed", 100_000, (*maker).environment},
		{"small", 1_000_000, func(m *maker) { m.small(2000) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			w := newWorld(b)
			m := newMaker(b)
			fillLog(b, w.log, tc.events, m, func() { tc.more(m) })
			b.Run("read", func(b *testing.B) { benchRead(b, w) })
			b.Run("rebuild", func(b *testing.B) { benchRebuild(b, w) })
		})
	}
}

// benchRead reads every partition, two side by side as the rebuild does.
func benchRead(b *testing.B, w *world) {
	b.Helper()
	events, used := 0, olaptest.CPUSeconds(b)
	for b.Loop() {
		events = 0
		ends := w.ends()
		next := make(chan struct {
			topic string
			p     int32
		}, 1000)
		for topic, parts := range ends {
			for p := range parts {
				next <- struct {
					topic string
					p     int32
				}{topic, p}
			}
		}
		close(next)
		counts := make(chan int)
		for range 2 {
			go func() {
				n := 0
				for at := range next {
					err := w.log.Tail(at.topic, at.p, 0).ReadTo(context.WithoutCancel(b.Context()), ends[at.topic][at.p], func(event.Event) error { n++; return nil })
					if err != nil {
						b.Error(err)
					}
				}
				counts <- n
			}()
		}
		events = <-counts + <-counts
	}
	b.ReportMetric(float64(b.N*events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.N*events)/(olaptest.CPUSeconds(b)-used), "events/cpu-s")
}

func benchRebuild(b *testing.B, w *world) {
	b.Helper()
	var at Progress
	used := olaptest.CPUSeconds(b)
	for b.Loop() {
		r, err := New(Config{Parallel: 2}, Settings{
			Log: w.log, Conn: w.conn, Topics: topics.All(partitions), Embedder: builtin(), DeadLetter: w.letters().Record,
			Install: func(ctx context.Context) error { return migrations.Install(ctx, w.conn) },
		})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := r.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		at = r.Progress()
		b.Logf("%+v in %s", at, time.Since(began))
	}
	b.ReportMetric(float64(int64(b.N)*at.Events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(int64(b.N)*at.Events)/(olaptest.CPUSeconds(b)-used), "events/cpu-s")
	b.ReportMetric(float64(int64(b.N)*at.Rows)/b.Elapsed().Seconds(), "rows/s")
}
