//go:build linux

package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// observer follows the log as it grows.
type observer struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards the following
	last     map[arrival]time.Time
	finished map[string]bool // runs, by key
	changed  chan struct{}   // closed and replaced with every event
}

// arrival is a kind of event of a run.
type arrival struct {
	run, kind string
}

func newObserver(t *testing.T, w *world) *observer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	o := &observer{cancel: cancel, last: map[arrival]time.Time{}, finished: map[string]bool{}, changed: make(chan struct{})}
	var names []string
	for _, topic := range topics.All(topics.DefaultPartitions) {
		names = append(names, topic.Name)
	}
	log := w.client(bus.Settings{})
	ends := bus.Positions{}
	for _, name := range names {
		end, err := log.HighWatermarks(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		ends[name] = end
	}
	o.wg.Go(func() {
		err := log.Follow(ctx, names, ends, func(ev event.Event) error { o.see(ev); return nil })
		if ctx.Err() == nil {
			w.problem("the follower of the log ended: %v", err)
		}
	})
	return o
}

func (o *observer) stop() {
	o.cancel()
	o.wg.Wait()
}

func (o *observer) see(ev event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	run := ev.Key
	if len(run) > 36 {
		run = run[:36] // run/env
	}
	o.last[arrival{run, ev.Type}] = time.Now()
	if ev.Type == event.TypeOf((*spadepb.RunFinished)(nil)) {
		o.finished[ev.Key] = true
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// isFinished reports whether a run is over.
func (o *observer) isFinished(run uuid.UUID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.finished[run.String()]
}

// since reports whether the run has had one of the kinds of events after a moment; no kinds means any.
func (o *observer) since(run uuid.UUID, at time.Time, kinds []string) (time.Time, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var first time.Time
	for a, seen := range o.last {
		if a.run != run.String() || !seen.After(at) || len(kinds) > 0 && !has(kinds, a.kind) {
			continue
		}
		if first.IsZero() || seen.Before(first) {
			first = seen
		}
	}
	return first, !first.IsZero()
}

// lately is the kinds of the run's newest events: those that came within a moment of the last.
func (o *observer) lately(run uuid.UUID, moment time.Duration) (kinds []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var newest time.Time
	for a, seen := range o.last {
		if a.run == run.String() && seen.After(newest) {
			newest = seen
		}
	}
	for a, seen := range o.last {
		if a.run == run.String() && seen.After(newest.Add(-moment)) {
			kinds = append(kinds, strings.TrimPrefix(a.kind, "spade.v1."))
		}
	}
	return kinds
}

func has(kinds []string, kind string) bool {
	for _, k := range kinds {
		if "spade.v1."+k == kind {
			return true
		}
	}
	return false
}

// await waits until fn holds, looking at it with every event and now and then.
func (o *observer) await(timeout time.Duration, fn func() bool) error {
	deadline := time.Now().Add(timeout)
	for {
		o.mu.Lock()
		changed := o.changed
		o.mu.Unlock()
		if fn() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s", timeout)
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond):
		}
	}
}
