package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ErrBusy says that another process does what only one may do at a time.
var ErrBusy = errors.New("another process is at it; wait until it has ended")

// errNotAlone ends what was done under a lock that is lost.
var errNotAlone = errors.New("the lock was lost: this process was out of touch with the log, or another took over")

const (
	// lockFor is how long a lock is waited for: a process that was killed keeps it until its session times out.
	lockFor = 15 * time.Second
	// aloneFor is how long nobody else may have come before the work begins.
	aloneFor  = time.Second
	askMember = 200 * time.Millisecond
)

// exclusively does what no two processes may do at once. The lock is a consumer group: whoever holds the one partition of
// spade.runs in it works, and nobody joins it while it has a member. So a process that is killed keeps it for no longer than its
// session. The context of the work ends when the lock is lost.
func exclusively(ctx context.Context, log *bus.Client, group string, do func(ctx context.Context) error) error {
	if err := waitFree(ctx, log, group); err != nil {
		return err
	}
	joined, leave := context.WithCancel(ctx)
	defer leave()
	var begun atomic.Bool
	result := make(chan error, 1)
	lead := func(ctx context.Context) error {
		if err := waitAlone(ctx, log, group); err != nil {
			return err
		}
		if !begun.CompareAndSwap(false, true) {
			return nil // given up
		}
		err := do(ctx)
		if err != nil && ctx.Err() != nil && joined.Err() == nil {
			err = fmt.Errorf("%w: %w", errNotAlone, err)
		}
		result <- err
		leave()
		return nil
	}
	h := bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
		return newTerm(joined, claim, lead), nil
	})
	// Of those that came at the same moment one after the other gives up, until one is alone.
	defer time.AfterFunc(lockFor/2+rand.N(lockFor), func() {
		if begun.CompareAndSwap(false, true) {
			leave()
		}
	}).Stop()
	err := log.Consume(joined, group, []string{topics.Runs}, nil, h)
	select {
	case done := <-result:
		return done
	default:
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return ErrBusy
}

// waitFree waits until nobody holds a lock.
func waitFree(ctx context.Context, log *bus.Client, group string) error {
	for began := time.Now(); ; {
		n, err := log.Members(ctx, group)
		switch {
		case err != nil:
			return err
		case n == 0:
			return nil
		case time.Since(began) > lockFor:
			return ErrBusy
		}
		if err := pause(ctx, askMember); err != nil {
			return err
		}
	}
}

// waitAlone waits until whoever came at the same moment has left. When it does, the term ends, and another one begins.
func waitAlone(ctx context.Context, log *bus.Client, group string) error {
	for since := time.Now(); time.Since(since) < aloneFor; {
		n, err := log.Members(ctx, group)
		if err != nil {
			return err
		}
		if n != 1 {
			since = time.Now()
		}
		if err := pause(ctx, askMember); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, no longer than ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
