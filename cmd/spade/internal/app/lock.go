package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
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
	// heldFor is how long ago one may have held the partition that does not give up: a rebalance takes it away for a moment.
	heldFor = 5 * time.Second
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
	var me contender
	result := make(chan error, 1)
	lead := func(ctx context.Context) error {
		defer me.holds()()
		if err := waitAlone(ctx, log, group); err != nil {
			return err
		}
		if !me.begun.CompareAndSwap(false, true) {
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
	// Of those that came at the same moment one after the other gives up, until the one that holds the partition is alone.
	given := make(chan struct{})
	go func() {
		defer close(given)
		if me.standsBy(joined) && me.begun.CompareAndSwap(false, true) {
			leave()
		}
	}()
	defer func() { leave(); <-given }()
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

// contender is whether a process holds the partition, and whether it has begun its work or given up.
type contender struct {
	begun atomic.Bool

	mu    sync.Mutex // guards the following
	terms int        // that last: at most one, and another that ends
	until time.Time  // when the last one ended
}

// holds notes that a term has begun, and with the returned function that it is over.
func (c *contender) holds() (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.terms++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.terms--
		c.until = time.Now()
	}
}

// standsBy waits for about as long as a lock is waited for, and then until the partition is another's. It is false when ctx ends.
func (c *contender) standsBy(ctx context.Context) bool {
	for wait := lockFor/2 + rand.N(lockFor); pause(ctx, wait) == nil; wait = askMember {
		c.mu.Lock()
		held := c.terms > 0 || time.Since(c.until) < heldFor
		c.mu.Unlock()
		if !held {
			return true
		}
	}
	return false
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
