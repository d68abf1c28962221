package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

const topic = topics.Rollouts

func newEvent(key string, n int) event.Event {
	name := fmt.Sprintf("%s/%06d", key, n)
	return event.Event{
		Topic: topic, Key: key, Type: "spade.v1.RolloutCompleted", ID: uuid.NewSHA1(uuid.Nil, []byte(name)),
		Payload: []byte(name), Time: time.Now(),
	}
}

// traffic is writers that append until stopped, each event when the one before it is acknowledged. One that is not is tried
// again, as producers do.
type traffic struct {
	acked   atomic.Int64
	retried atomic.Int64
	longest atomic.Int64 // nanoseconds that an append took, with its retries

	last atomic.Pointer[error]
	over context.Context // ends with the test

	mu     sync.Mutex // guards the following
	counts map[string]int
	stop   func()
}

const writers = 6

func drive(t *testing.T, c *bus.Client) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{counts: map[string]int{}, over: t.Context()}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { tr.write(ctx, c, fmt.Sprint("key", w)) })
	}
	tr.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(tr.stop)
	return tr
}

func (tr *traffic) write(ctx context.Context, c *bus.Client, key string) {
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		// What was begun is brought to its end: only then is it known whether it counts.
		for err := tr.append(c, key, n); err != nil; err = tr.append(c, key, n) {
			tr.retried.Add(1)
			tr.last.Store(&err)
			if tr.over.Err() != nil {
				return
			}
		}
		for took := int64(time.Since(began)); ; {
			old := tr.longest.Load()
			if took <= old || tr.longest.CompareAndSwap(old, took) {
				break
			}
		}
		tr.acked.Add(1)
		tr.mu.Lock()
		tr.counts[key] = n + 1
		tr.mu.Unlock()
	}
}

func (tr *traffic) append(c *bus.Client, key string, n int) error {
	return c.Append(context.WithoutCancel(tr.over), newEvent(key, n))
}

// more waits until n more events are acknowledged.
func (tr *traffic) more(t *testing.T, n int64) {
	t.Helper()
	until := tr.acked.Load() + n
	defer func() {
		if err := tr.last.Load(); t.Failed() && err != nil {
			t.Logf("the last append that failed: %v", *err)
		}
	}()
	eventually(t, fmt.Sprintf("%d more events", n), func() bool { return tr.acked.Load() >= until })
}

// check stops the traffic and compares the log with what was acknowledged: everything is there, in order for each key, once
// the repeats of an id are left out.
func (tr *traffic) check(t *testing.T, c *bus.Client) {
	t.Helper()
	tr.stop()
	seen := fold{}
	if err := c.Read(t.Context(), topic, nil, nil, seen.add); err != nil {
		t.Fatal(err)
	}
	seen.check(t, tr.counts)
	t.Logf("%d events acknowledged, %d appends failed and tried again, the longest took %s; repeats in the log: %d; %+v",
		tr.acked.Load(), tr.retried.Load(), time.Duration(tr.longest.Load()).Round(time.Millisecond), seen.repeats, c.Stats())
}

// fold keeps what was read of each key, the first record of an id counting.
type fold struct {
	mu      sync.Mutex // guards the following
	ids     map[uuid.UUID]bool
	byKey   map[string][]string
	repeats int
}

func (f *fold) add(ev event.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids == nil {
		f.ids, f.byKey = map[uuid.UUID]bool{}, map[string][]string{}
	}
	if f.ids[ev.ID] {
		f.repeats++
		return nil
	}
	f.ids[ev.ID] = true
	f.byKey[ev.Key] = append(f.byKey[ev.Key], string(ev.Payload))
	return nil
}

func (f *fold) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ids)
}

func (f *fold) check(t *testing.T, counts map[string]int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, n := range counts {
		names := f.byKey[key]
		if len(names) != n {
			t.Errorf("%s: %d events, %d were acknowledged", key, len(names), n)
			continue
		}
		for i, name := range names {
			if want := string(newEvent(key, i).Payload); name != want {
				t.Errorf("%s: event %d is %s", key, i, name)
				break
			}
		}
	}
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// group consumes the topic in a group of the test's, committing every batch.
type group struct {
	fold
	gone atomic.Int64 // partitions lost
	stop func() error
}

const groupName = "readers"

func consume(t *testing.T, c *bus.Client) *group {
	t.Helper()
	g := &group{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- c.Consume(ctx, groupName, []string{topic}, nil, bus.HandlerFunc(
			func(_ context.Context, cl *bus.Claim) (bus.Processor, error) { return &processor{g, cl}, nil }))
	}()
	g.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("consume does not end")
		}
	})
	t.Cleanup(func() {
		if err := g.stop(); err != nil {
			t.Errorf("consume: %v", err)
		}
	})
	return g
}

type processor struct {
	g  *group
	cl *bus.Claim
}

func (p *processor) Process(_ context.Context, b bus.Batch) error {
	for _, ev := range b.Events {
		if err := p.g.add(ev); err != nil {
			return err
		}
	}
	return p.cl.Commit(b.Topic, b.Next)
}
func (p *processor) Idle(context.Context) error    { return nil }
func (p *processor) Revoked(context.Context) error { return nil }
func (p *processor) Lost()                         { p.g.gone.Add(1) }
