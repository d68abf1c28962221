package warehouse

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/topics"
)

// positioned is a warehouse of which only the positions are asked.
type positioned struct {
	Store
	positions bus.Positions
}

func (p positioned) Positions(context.Context, string) (bus.Positions, error) {
	return p.positions, nil
}

// A process that gets on all the time by itself still sees what others have written.
func TestWaitForOthersWhileOnesOwnLanesMove(t *testing.T) {
	s := simSink(t)
	s.set.Store = positioned{positions: bus.Positions{topics.Rollouts: {1: 10}}}
	synctest.Test(t, func(t *testing.T) {
		s.progress = newProgress()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var own sync.WaitGroup
		own.Go(func() {
			for next := int64(1); ctx.Err() == nil; next++ {
				s.progress.advance(Place{topics.Rollouts, 0}, next)
				time.Sleep(pollInterval / 3)
			}
		})
		if err := s.WaitFor(ctx, bus.Positions{topics.Rollouts: {1: 10}}); err != nil {
			t.Error(err)
		}
		cancel()
		own.Wait()
	})
}
