package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	_, c := setup(t)
	small := newEvent(topic, "run/env", "small\x00\xff")
	small.Observed = &spadepb.Observed{Host: "h"}
	large := newEvent(topic, "run/env", strings.Repeat("large ", 1<<20))
	empty := newEvent(topic, "", "")
	appendAll(t, c, small, large, empty)
	got := map[string]event.Event{}
	for _, ev := range readAll(t, c, topic) {
		got[ev.ID.String()] = ev
	}
	for _, want := range []event.Event{small, large, empty} {
		ev, ok := got[want.ID.String()]
		if !ok || !bytes.Equal(ev.Payload, want.Payload) || ev.Key != want.Key || ev.Type != want.Type || !ev.Time.Equal(want.Time) {
			t.Errorf("event %s of %d bytes came back changed: %v", want.ID, len(want.Payload), ok)
		}
	}
	if n := got[large.ID.String()]; n.LastOffset <= n.Offset {
		t.Errorf("a large event spans offsets %d to %d", n.Offset, n.LastOffset)
	}
	if got[small.ID.String()].Observed.GetHost() != "h" {
		t.Error("the observed header is gone")
	}
}

func TestKeysLandWhereJavaPutsThem(t *testing.T) {
	_, c := setup(t)
	java := kgo.StickyKeyPartitioner(nil).ForTopic(topic)
	var evs []event.Event
	for i := range 300 {
		evs = append(evs, newEvent(topic, strings.Repeat("x", i%9)+fmt.Sprint(i), fmt.Sprint(i)))
	}
	appendAll(t, c, evs...)
	used := map[int32]bool{}
	for _, ev := range readAll(t, c, topic) {
		want := java.Partition(&kgo.Record{Key: []byte(ev.Key)}, testPartitions)
		if int(ev.Partition) != want {
			t.Fatalf("key %q is in partition %d, Java puts it in %d", ev.Key, ev.Partition, want)
		}
		used[ev.Partition] = true
	}
	if len(used) != testPartitions {
		t.Errorf("only partitions %v are used", used)
	}
}

// With the Writer's default a lone event waits a second.
func TestALoneEventDoesNotWaitForABatch(t *testing.T) {
	_, c := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := range 200 {
		if err := c.Append(ctx, newEvent(topic, "k", fmt.Sprint(i))); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
}

func TestAnOversizeEventIsRefusedAloneAndNamed(t *testing.T) {
	_, c := setup(t)
	huge := newEvent(topic, "k", "huge")
	huge.Payload = make([]byte, topics.MaxEventBytes+1)
	wideKey := newEvent(topic, strings.Repeat("k", 2<<20), "wide")
	err := c.Append(t.Context(), newEvent(topic, "k", "a"), huge, newEvent(topic, "k", "b"), wideKey)
	var rejected *bus.RejectedError
	if !errors.As(err, &rejected) || len(rejected.Rejected) != 2 {
		t.Fatalf("got %v", err)
	}
	for i, want := range []struct {
		index, actual, allowed int
		ev                     event.Event
	}{
		{1, topics.MaxEventBytes + 1, topics.MaxEventBytes, huge},
		{3, 2 << 20, topics.MaxMessageBytes, wideKey},
	} {
		r := rejected.Rejected[i]
		var large *event.TooLargeError
		if !errors.As(r.Err, &large) || r.Index != want.index || r.ID != want.ev.ID.String() ||
			large.Key != want.ev.Key || large.Topic != topic || large.Actual < want.actual || large.Allowed != want.allowed {
			t.Errorf("rejection %d is %d %s %v", i, r.Index, r.ID, r.Err)
		}
	}
	if got := nameSet(readAll(t, c, topic)); len(got) != 2 || got["a"] != 1 || got["b"] != 1 {
		t.Errorf("the log holds %v", got)
	}
}

func TestBatchesAreCutByBytes(t *testing.T) {
	b := bustest.Open(t)
	c := b.Client(t)
	small := topics.Topic{
		Name: topic, Partitions: 1,
		Settings: map[string]string{"max.message.bytes": "20000", "retention.ms": "-1"},
	}
	if err := c.EnsureTopics(t.Context(), []topics.Topic{small}); err != nil {
		t.Fatal(err)
	}
	evs := newEvents(topic, "x", 1000)
	for i := range evs {
		evs[i].Payload = append(evs[i].Payload, make([]byte, 2000)...)
	}
	big := newEvent(topic, "k", strings.Repeat("big", 100_000))
	appendAll(t, c, append(evs, big)...)
	got := readAll(t, c, topic)
	if len(got) != len(evs)+1 {
		t.Fatalf("%d events, want %d", len(got), len(evs)+1)
	}
	checkOrder(t, got)
}

func TestRetriesKeepTheOrderOfAKeyAndLoseNothing(t *testing.T) {
	b, c := embedded(t)
	faults := b.Cluster().Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: 5},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 5},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.LeaderNotAvailable, Count: 5},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicasAfterAppend, Count: 5},
	)
	evs := newEvents(topic, "x", 2000)
	for len(evs) > 0 {
		appendAll(t, c, evs[:50]...)
		evs = evs[50:]
	}
	if faults.Hits() < 20 {
		t.Fatalf("only %d faults were hit", faults.Hits())
	}
	got := readAll(t, c, topic)
	checkOrder(t, got)
	checkHas(t, got, newEvents(topic, "x", 2000))
	if len(got) == 2000 {
		t.Error("no event was written twice: the timeouts after the write were not retried")
	}
}

func TestConcurrentAppendsKeepTheOrderOfEachCaller(t *testing.T) {
	b, c := embedded(t)
	b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: 20})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 100 {
				name := fmt.Sprintf("w%d/%06d", w, i)
				if err := c.Append(t.Context(), newEvent(topic, fmt.Sprint("w", w), name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := readAll(t, c, topic)
	checkOrder(t, got)
	if len(got) != 800 {
		t.Errorf("%d events, want 800", len(got))
	}
}

func TestACutConnectionIsRetried(t *testing.T) {
	b, c := embedded(t)
	cuts := 0
	b.Cluster().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		if cuts++; cuts <= 6 {
			b.Cluster().KeepControl()
			return nil, io.ErrUnexpectedEOF, true
		}
		return nil, nil, false
	})
	evs := newEvents(topic, "x", 100)
	appendAll(t, c, evs...)
	got := readAll(t, c, topic)
	checkHas(t, got, evs)
	checkOrder(t, got)
}

func TestABrokerThatRestartsLosesNothing(t *testing.T) {
	b, c := embedded(t)
	var all []event.Event
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			ev := newEvent(topic, "k", fmt.Sprintf("%06d", i))
			if err := c.Append(t.Context(), ev); err != nil {
				t.Error(err)
			}
			all = append(all, ev)
		}
	}()
	for range 3 {
		b.Stop(t)
		b.Restart(t)
	}
	<-done
	got := readAll(t, c, topic)
	checkHas(t, got, all)
	checkOrder(t, got)
}

func TestAClientMayStartBeforeItsBroker(t *testing.T) {
	b := bustest.Start(t)
	b.Stop(t)
	c := b.Client(t)
	done := make(chan error, 1)
	go func() {
		if err := c.EnsureTopics(t.Context(), topics.All(testPartitions)); err != nil {
			done <- err
			return
		}
		done <- c.Append(t.Context(), newEvent(topic, "k", "early"))
	}()
	eventually(t, "the client tries", func() bool { return c.Stats().Retries > 0 })
	b.Restart(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, c, topic); len(got) != 1 {
		t.Fatalf("%d events", len(got))
	}
}

func TestABrokerThatIsGoneIsNamed(t *testing.T) {
	b, warm := embedded(t)
	cfg := b.Config()
	cfg.DeliveryTimeout = 200 * time.Millisecond
	c := b.ClientWith(t, cfg, bus.Settings{})
	appendAll(t, c, newEvent(topic, "k", "a"))
	appendAll(t, warm, newEvent(topic, "k", "b"))
	b.Stop(t)
	if err := c.Append(t.Context(), newEvent(topic, "k", "c")); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("append: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := c.Ready(ctx)
	if !errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), cfg.Brokers[0]) {
		t.Errorf("ready: %v", err)
	}
	if _, err := c.HighWatermarks(ctx, topic); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("high watermarks: %v", err)
	}
	b.Restart(t)
}

func TestAFullDiskIsNamed(t *testing.T) {
	b, c := embedded(t)
	faults := b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.UnknownServerError, Count: -1})
	defer faults.Remove()
	err := c.Append(t.Context(), newEvent(topic, "k", "a"))
	if err == nil || !strings.Contains(err.Error(), "disk full") || !strings.Contains(err.Error(), topic) {
		t.Fatalf("got %v", err)
	}
}

func TestAWrongPasswordIsRefusedAtOnceAndNotPrinted(t *testing.T) {
	b := bustest.Open(t)
	cfg := b.Config()
	const canary = "canary-77e1"
	cfg.Password = secret.New(canary)
	c := b.ClientWith(t, cfg, bus.Settings{})
	err := c.Ready(t.Context())
	if !errors.Is(err, bus.ErrLogin) {
		t.Fatalf("got %v", err)
	}
	if _, topicErr := c.HighWatermarks(t.Context(), topic); !errors.Is(topicErr, bus.ErrLogin) {
		t.Errorf("got %v", topicErr)
	}
	if printed := fmt.Sprintf("%v %+v %#v", err, cfg, cfg); strings.Contains(printed, canary) {
		t.Error("the password was printed")
	}
}

func TestATopicThatDoesNotExistIsNamed(t *testing.T) {
	b := bustest.Open(t)
	err := b.Client(t).Append(t.Context(), newEvent(topic, "k", "a"))
	if !errors.Is(err, bus.ErrNoTopic) || !strings.Contains(err.Error(), topic) {
		t.Fatalf("got %v", err)
	}
}

// stall makes the broker hold produce requests, once it closes held the first of them, until resume runs.
func stall(t *testing.T, b *bustest.Broker) (held <-chan struct{}, resume func()) {
	t.Helper()
	release, begun := make(chan struct{}), make(chan struct{})
	var first sync.Once
	b.Cluster().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		first.Do(func() { close(begun) })
		b.Cluster().KeepControl()
		b.Cluster().SleepControl(func() { <-release })
		return nil, nil, false
	})
	return begun, sync.OnceFunc(func() { close(release) })
}

func TestAStalledBrokerDoesNotFillMemory(t *testing.T) {
	b, warm := embedded(t)
	cfg := b.Config()
	cfg.BatchBytes, cfg.InFlightBytes = 8<<10, 16<<10
	c := b.ClientWith(t, cfg, bus.Settings{})
	appendAll(t, warm, newEvent(topic, "k", "warm"))
	appendAll(t, c, newEvent(topic, "k", "warm too")) // logged in, and the topic looked up
	held, resume := stall(t, b)
	defer resume()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	waiting, sent := 0, 0
	for i := range 20 {
		wg.Go(func() {
			ev := newEvent(topic, fmt.Sprint(i), fmt.Sprint(i))
			ev.Payload = make([]byte, 5000)
			err := c.Append(ctx, ev)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, bus.ErrBackpressure):
				waiting++
			case errors.Is(err, bus.ErrUnknownOutcome):
				sent++
			default:
				t.Errorf("got %v", err)
			}
		})
	}
	<-held
	cancel()
	wg.Wait()
	if sent == 0 || sent > 3 || waiting != 20-sent {
		t.Errorf("%d in flight, %d refused", sent, waiting)
	}
	resume()
	appendAll(t, c, newEvent(topic, "k", "after"))
}

func TestCloseEndsWhatIsInFlight(t *testing.T) {
	b, c := embedded(t)
	appendAll(t, c, newEvent(topic, "k", "a"))
	held, resume := stall(t, b)
	defer resume()
	done := make(chan error, 1)
	go func() { done <- c.Append(t.Context(), newEvent(topic, "k", "b")) }()
	<-held
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, bus.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := c.Append(t.Context(), newEvent(topic, "k", "c")); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := c.Ready(t.Context()); !errors.Is(err, bus.ErrClosed) { // and begins no connection
		t.Errorf("got %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfigProblemsAreAllNamed(t *testing.T) {
	_, err := bus.New(bus.Config{
		Mechanism: "GSSAPI", Compression: "brotli", BatchBytes: 1, RevokeTimeout: time.Hour, TLS: bus.TLS{CertFile: "x"},
	}, bus.Settings{})
	for _, want := range []string{"broker address", "GSSAPI", "brotli", "batch", "revoke", "certificate"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
}
