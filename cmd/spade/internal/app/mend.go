package app

import (
	"context"
	"errors"
	"time"
)

// mendEvery is how often a process that fills a projection looks whether a rebuild of it was killed on its way.
const mendEvery = 5 * time.Second

// runSink fills the warehouse until ctx ends, and repairs it where a rebuild was killed: one that keeps everybody from writing is
// brought to its end, forwards when its switch was decided, else back. That needs no claim, and whoever waits for one goes on.
func (s *Services) runSink(ctx context.Context) error {
	err := s.mending(ctx, "warehouse", s.mendWarehouse, s.sink.Run)
	return ended(ctx, "warehouse", err)
}

// mending does work until ctx ends, and looks meanwhile, again and again, whether there is something to mend.
func (s *Services) mending(ctx context.Context, what string, mend func(context.Context) (bool, error), work func(context.Context) error) error {
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for pause(watching, mendEvery) == nil {
			mended, err := mend(watching)
			switch {
			case watching.Err() != nil, errors.Is(err, ErrBusy): // another process is at it
			case err != nil:
				s.Log.Warn("a rebuild of the "+what+" did not end and could not be repaired, trying again", "error", err)
			case mended:
				s.Log.Warn("a rebuild of the " + what + " did not end; it was repaired, writers go on")
			}
		}
	}()
	err := work(ctx)
	stop()
	<-watched
	return err
}

func (s *Services) mendWarehouse(ctx context.Context) (mended bool, err error) {
	w, err := s.warehouseRebuild()
	if err != nil {
		return false, err
	}
	if sealed, err := w.Sealed(ctx); err != nil || !sealed {
		return false, nil //nolint:nilerr // a server that does not answer is the sink's to report
	}
	if n, err := s.Bus.Members(ctx, warehouseLock); err != nil || n > 0 {
		return false, err
	}
	return true, exclusively(ctx, s.Bus, warehouseLock, w.Repair)
}

// mendMemory rebuilds the memory where a rebuild that was killed left collections: it may have been after the switch, and then
// what was written meanwhile is only in the collections that were replaced.
func (s *Services) mendMemory(ctx context.Context) (mended bool, err error) {
	left, err := s.memory.Leftovers(ctx)
	if err != nil || len(left) == 0 {
		return false, nil //nolint:nilerr // a store that does not answer is the projection's to report
	}
	if n, err := s.Bus.Members(ctx, memoryLock); err != nil || n > 0 {
		return false, err
	}
	m, err := s.memoryRebuild()
	if err != nil {
		return false, err
	}
	return true, exclusively(ctx, s.Bus, memoryLock, m.Run)
}
