package telemetry

import (
	"testing"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// BenchmarkAppended is what counting costs the append of an episode of eight steps.
func BenchmarkAppended(b *testing.B) {
	run := ids.Run("b")
	env := ids.Env(run, 0, 0, 0)
	id := ids.Rollout(env, ids.ArmPlain, 0, 0)
	msg := &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: id[:], GroupId: id[:], Arm: "plain", Outcome: "solved"}
	for range 8 {
		msg.Steps = append(msg.Steps, &spadepb.Step{Observation: "what the agent sees of it", Action: "what it does", StateHash: make([]byte, 32)})
	}
	ev, err := event.New("k", id, 0, msg, &spadepb.Observed{DurationUs: 1})
	if err != nil {
		b.Fatal(err)
	}
	t := newTally()
	b.SetBytes(int64(len(ev.Payload)))
	for b.Loop() {
		t.add([]event.Event{ev})
	}
	if t.counts[counted{Episodes, "plain", "solved"}] == 0 {
		b.Fatal("nothing was counted")
	}
}

// BenchmarkScrape is what a scrape costs.
func BenchmarkScrape(b *testing.B) {
	p := New(Config{Data: b.TempDir()}, Settings{})
	p.Add(logSampler(&fakeLog{}))
	for b.Loop() {
		if _, err := p.gatherer.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
