package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// kafkaOnly is what the log needs.
var kafkaOnly = embedded.Settings{Purpose: "test", Services: []embedded.Service{embedded.Kafka}}

// The supervisor is killed over and over while events are appended, followed and consumed. What was acknowledged is in
// the log afterwards and was seen by both readers, and neither reader has failed. KILLS and KILL_SEED set how often
// and when.
func TestAcknowledgedEventsSurviveKills(t *testing.T) {
	kills, seed := setting(t, "KILLS", 4), setting(t, "KILL_SEED", 1)
	cfg := config(t)
	l, err := embedded.Connect(t.Context(), cfg, kafkaOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		waitGone(t, l.SupervisorPID())
	})
	c := client(t, waitReady(t, l, embedded.Kafka))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	acked, followed, consumed := newNames(), newNames(), newNames()
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		err := c.Follow(ctx, []string{topics.Rollouts}, nil, func(ev event.Event) error { followed.add(ev.ID); return nil })
		if ctx.Err() == nil {
			t.Errorf("the follower ended: %v", err)
		}
	})
	readers.Go(func() {
		h := bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
			return &noting{claim: claim, seen: consumed}, nil
		})
		if err := c.Consume(ctx, "g", []string{topics.Rollouts}, nil, h); err != nil {
			t.Errorf("the consumer ended: %v", err)
		}
	})
	stop := make(chan struct{})
	for w := range 4 {
		writers.Go(func() { appendUntil(ctx, t, c, w, stop, acked) })
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range kills {
		time.Sleep(time.Duration(20+random.IntN(400)) * time.Millisecond)
		pid := l.SupervisorPID()
		kill(t, pid)
		eventually(t, "another supervisor", func() bool { return l.SupervisorPID() != pid })
		waitReady(t, l, embedded.Kafka)
	}
	close(stop)
	writers.Wait()

	log := newNames()
	err = c.Read(t.Context(), topics.Rollouts, nil, nil, func(ev event.Event) error { log.add(ev.ID); return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events acknowledged, %d in the log; %+v", acked.count(), log.count(), c.Stats())
	if n := log.missing(acked); n > 0 {
		t.Errorf("the log lacks %d of %d acknowledged events", n, acked.count())
	}
	eventually(t, "both readers have seen what the log holds", func() bool {
		return t.Failed() || followed.missing(log)+consumed.missing(log) == 0
	})
	cancel()
	readers.Wait()
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is %q: %v", name, v, err)
	}
	return n
}

// appendUntil appends batches of events of all sizes, and notes those that were acknowledged. One that was not is
// appended again with its id, as every producer of the program does.
func appendUntil(ctx context.Context, t *testing.T, c *bus.Client, writer int, stop <-chan struct{}, acked *names) {
	random := rand.New(rand.NewPCG(uint64(writer), 1))
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(random.IntN(3)) * time.Millisecond):
		}
		evs := make([]event.Event, 1+random.IntN(8))
		for i := range evs {
			name := fmt.Sprintf("%d/%d/%d", writer, n, i)
			evs[i] = event.Event{
				Topic: topics.Rollouts, Key: fmt.Sprint("k", random.IntN(5)), Type: "spade.v1.RolloutCompleted",
				ID: uuid.NewSHA1(uuid.Nil, []byte(name)), Payload: make([]byte, random.IntN(20000)), Time: time.Unix(0, 0),
			}
		}
		if err := c.Append(ctx, evs...); err != nil {
			t.Errorf("append: %v", err)
			return
		}
		for _, ev := range evs {
			acked.add(ev.ID)
		}
	}
}

// names is a set of event ids.
type names struct {
	mu  sync.Mutex // guards the following
	set map[uuid.UUID]struct{}
}

func newNames() *names { return &names{set: map[uuid.UUID]struct{}{}} }

func (s *names) add(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set[id] = struct{}{}
}

func (s *names) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.set)
}

// missing counts what is in want and not in s.
func (s *names) missing(want *names) (n int) {
	want.mu.Lock()
	defer want.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range want.set {
		if _, ok := s.set[id]; !ok {
			n++
		}
	}
	return n
}

// noting is a Processor that notes what it sees and commits it.
type noting struct {
	claim *bus.Claim
	seen  *names
}

// Process notes the events.
func (p *noting) Process(_ context.Context, b bus.Batch) error {
	for _, ev := range b.Events {
		p.seen.add(ev.ID)
	}
	return p.claim.Commit(b.Topic, b.Next)
}

func (p *noting) Idle(context.Context) error    { return nil }
func (p *noting) Revoked(context.Context) error { return nil }
func (p *noting) Lost()                         {}
