package designer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Known is what the log holds of one attempt.
type Known struct {
	Designed *spadepb.EnvironmentDesigned // nil: not designed yet
	Accepted bool
	Rejected *spadepb.EnvironmentRejected
}

// Ledger folds spade.environments of one run: which attempts exist, which slots have ended and how. The first record of
// an event wins. It may be used concurrently.
type Ledger struct {
	run uuid.UUID

	mu      sync.Mutex // guards the following
	known   map[uuid.UUID]Known
	ended   map[slotKey]bool // true: with an accepted design
	changed chan struct{}    // closed and replaced at every change
}

type slotKey struct{ iteration, slot int32 }

// NewLedger makes an empty ledger for a run.
func NewLedger(run uuid.UUID) *Ledger {
	return &Ledger{
		run:     run,
		known:   map[uuid.UUID]Known{},
		ended:   map[slotKey]bool{},
		changed: make(chan struct{}),
	}
}

// Add folds one event of spade.environments; those of other runs are ignored, and so is what cannot be decoded, which the
// consumers of the topic keep as dead letters.
func (l *Ledger) Add(ev event.Event) error {
	if ev.Topic != topics.Environments || !topics.OfRun(ev.Key, l.run) {
		return nil
	}
	msg, err := ev.Message()
	if errors.Is(err, event.ErrMalformed) || errors.Is(err, event.ErrUnknownType) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("fold environments: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		l.update(m.GetEnvId(), func(k *Known) {
			if k.Designed == nil {
				k.Designed = m
			}
		})
	case *spadepb.EnvironmentAccepted:
		l.update(m.GetEnvId(), func(k *Known) { k.Accepted = true })
		l.end(slotKey{m.GetIteration(), m.GetSlot()}, true)
	case *spadepb.EnvironmentRejected:
		l.update(m.GetEnvId(), func(k *Known) {
			if k.Rejected == nil {
				k.Rejected = m
			}
		})
		if m.GetLastAttempt() {
			l.end(slotKey{m.GetIteration(), m.GetSlot()}, false)
		}
	}
	return nil
}

func (l *Ledger) update(id []byte, change func(*Known)) {
	env := uuid.UUID(id)
	k := l.known[env]
	change(&k)
	l.known[env] = k
	l.tell()
}

// tell wakes who waits. l.mu must be held.
func (l *Ledger) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Ledger) end(key slotKey, accepted bool) {
	if _, ok := l.ended[key]; ok {
		return
	}
	l.ended[key] = accepted
	l.tell()
}

// Get is what the log holds of an attempt.
func (l *Ledger) Get(env uuid.UUID) Known {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[env]
}

// waitDesigned waits until the design of an attempt has been read, and returns its first record.
func (l *Ledger) waitDesigned(ctx context.Context, env uuid.UUID) (*spadepb.EnvironmentDesigned, error) {
	for {
		l.mu.Lock()
		designed, changed := l.known[env].Designed, l.changed
		l.mu.Unlock()
		if designed != nil {
			return designed, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("read back the design of %s: %w", env, ctx.Err())
		}
	}
}

// WaitBefore waits until every lower slot of the iteration has ended and returns how many of them were accepted.
func (l *Ledger) WaitBefore(ctx context.Context, iteration, slot int32) (accepted int64, err error) {
	for {
		accepted, ready, changed := l.before(iteration, slot)
		if ready {
			return accepted, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for slots below %d of iteration %d: %w", slot, iteration, context.Cause(ctx))
		}
	}
}

func (l *Ledger) before(iteration, slot int32) (accepted int64, ready bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range slot {
		ok, ended := l.ended[slotKey{iteration, s}]
		if !ended {
			return 0, false, l.changed
		}
		if ok {
			accepted++
		}
	}
	return accepted, true, nil
}
