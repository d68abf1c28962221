package app

import (
	"context"
	"errors"
	"time"
)

// mendEvery is how often a process that fills the warehouse looks whether it is kept from that.
const mendEvery = 5 * time.Second

// runSink fills the warehouse until ctx ends, and repairs it where a rebuild was killed on its way.
func (s *Services) runSink(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.mend(watching)
	}()
	err := s.sink.Run(ctx)
	stop()
	<-watched
	return ended(ctx, "warehouse", err)
}

// mend looks again and again whether a rebuild keeps everybody from writing that nobody is at any more, and brings it to its
// end: forwards when its switch was decided, else back. It needs no claim, and whoever waits for one goes on.
func (s *Services) mend(ctx context.Context) {
	for pause(ctx, mendEvery) == nil {
		mended, err := s.mendOnce(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, ErrBusy): // another process is at it
		case err != nil:
			s.Log.Warn("a rebuild that did not end could not be repaired, trying again", "error", err)
		case mended:
			s.Log.Warn("a rebuild of the warehouse did not end; it was repaired, writers go on")
		}
	}
}

func (s *Services) mendOnce(ctx context.Context) (mended bool, err error) {
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
