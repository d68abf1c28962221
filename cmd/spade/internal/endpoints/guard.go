package endpoints

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed256f7767/spade/internal/embedded"
)

// guardEvery is how often Guard looks, and failedFor how long a service may be down for good before the command gives up:
// a supervisor that was killed needs a while to bring its servers back.
const (
	guardEvery = time.Second
	failedFor  = 30 * time.Second
)

// Guard is ctx until the embedded services are lost: the lease has ended, or a service has failed and nothing brings it
// back. Then it ends with what happened as its cause, so that nobody waits for ever for a server that does not come. stop
// ends the guarding and must be called.
func (s *Services) Guard(ctx context.Context) (guarded context.Context, stop func()) {
	guarded, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.guard(guarded, cancel)
	}()
	return guarded, func() {
		cancel(nil)
		<-done
	}
}

func (s *Services) guard(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	since := map[embedded.Service]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Lease.Done():
			lost(s.Lease.Err())
			return
		case now := <-tick.C:
			if err := failed(s.Lease.Status(), since, now); err != nil {
				lost(err)
				return
			}
		}
	}
}

// failed reports a service that has been down for good for too long. since remembers when each one failed.
func failed(status map[embedded.Service]embedded.Status, since map[embedded.Service]time.Time, now time.Time) error {
	var names []embedded.Service
	for name := range status {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if status[name].Phase != "failed" {
			delete(since, name)
			continue
		}
		first, known := since[name]
		if !known {
			since[name] = now
			continue
		}
		if now.Sub(first) >= failedFor {
			return fmt.Errorf("lost an embedded service: %w", &embedded.ServiceError{Service: name, Reason: status[name].Error})
		}
	}
	return nil
}
