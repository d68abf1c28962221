package rollout

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// short is a machine that lacks what it takes to open a worker, so many times.
type short struct {
	Workers
	cause wire.Cause
	times int
	asked int
}

func (s *short) Open(ctx context.Context, src gym.Source) (Worker, error) {
	s.asked++
	if s.asked <= s.times {
		return nil, &gym.SourceError{Stage: "load", Fault: gym.Fault{Cause: s.cause, Error: "no"}}
	}
	return s.Workers.Open(ctx, src)
}

// plainOnly plays the plain arm of an environment.
func plainOnly(t *testing.T, w Workers) *memoryLog {
	t.Helper()
	run := testRun()
	log := &memoryLog{}
	p := New(Settings{Run: run, Log: log, Policy: dice{}, Model: "dice", Source: observe.NewSource("test"), Workers: w})
	design, accepted := environment(run, gymtest.Counting)
	accepted.ExpectedHinted = 0
	if err := p.Rollout(t.Context(), design, accepted); err != nil {
		t.Error(err)
	}
	return log
}

func count(t *testing.T, log *memoryLog) (completed, dropped int) {
	t.Helper()
	for _, ev := range log.events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		switch msg.(type) {
		case *spadepb.RolloutCompleted:
			completed++
		case *spadepb.RolloutDropped:
			dropped++
		}
	}
	return completed, dropped
}

// A machine that is short of memory for a moment drops nothing.
func TestAWorkerThatCannotBeOpenedNowIsTriedAgain(t *testing.T) {
	w := &short{Workers: pool{gymtest.NewPool(t, gym.Config{MaxWorkers: 1})}, cause: wire.CauseMemory, times: 2}
	if completed, dropped := count(t, plainOnly(t, w)); completed != 4 || dropped != 0 {
		t.Errorf("%d episodes played, %d dropped", completed, dropped)
	}
}

// What never opens is dropped in the end, and at once where the source is to blame: the run has to go on.
func TestASourceThatNeverOpensIsDropped(t *testing.T) {
	for cause, tries := range map[wire.Cause]int{wire.CauseMemory: openTries, "": 1} {
		synctest.Test(t, func(t *testing.T) {
			w := &short{cause: cause, times: 100}
			if completed, dropped := count(t, plainOnly(t, w)); completed != 0 || dropped != 4 || w.asked != tries {
				t.Errorf("%q: %d episodes played, %d dropped after %d tries", cause, completed, dropped, w.asked)
			}
		})
	}
}
