package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
)

// foreign is another Kafka client, to write what the bus never writes.
type foreign struct {
	*kgo.Client
	prefix string
}

func franz(t *testing.T, b cluster, opts ...kgo.Opt) foreign {
	t.Helper()
	cfg := b.Config()
	return foreign{bustest.Franz(t, cfg, append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))...), cfg.Prefix}
}

func put(t *testing.T, cl foreign, recs ...*kgo.Record) {
	t.Helper()
	for _, r := range recs {
		r.Topic = cl.prefix + r.Topic
	}
	if err := cl.ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// raw turns an event's records into franz-go's, for partition 0.
func raw(t *testing.T, ev event.Event, limit int) []*kgo.Record {
	t.Helper()
	recs, err := event.Encode(ev, limit, ev.ID)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*kgo.Record, len(recs))
	for i, r := range recs {
		out[i] = &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			out[i].Headers = append(out[i].Headers, kgo.RecordHeader(h))
		}
	}
	return out
}

func TestReadStaysWithinItsBounds(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 300)...)
	middle, err := c.HighWatermarks(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, c, newEvents(topic, "b", 300)...)
	count := func(from, to map[int32]int64) (a, b int) {
		var last event.Event
		err := c.Read(t.Context(), topic, from, to, func(ev event.Event) error {
			if ev.Partition < last.Partition || (ev.Partition == last.Partition && last.ID != ev.ID && ev.Offset <= last.Offset && last.Payload != nil) {
				t.Errorf("%d/%d came after %d/%d", ev.Partition, ev.Offset, last.Partition, last.Offset)
			}
			last = ev
			if ev.Payload[0] == 'a' {
				a++
			} else {
				b++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	if a, b := count(nil, middle); a != 300 || b != 0 {
		t.Errorf("up to the middle: %d and %d", a, b)
	}
	if a, b := count(middle, nil); a != 0 || b != 300 {
		t.Errorf("from the middle: %d and %d", a, b)
	}
	if a, b := count(middle, middle); a+b != 0 {
		t.Errorf("of nothing: %d and %d", a, b)
	}
	one := map[int32]int64{1: middle[1]}
	if a, b := count(nil, one); int64(a) != middle[1] || b != 0 {
		t.Errorf("of one partition: %d and %d, want %d", a, b, middle[1])
	}
}

func TestReadReturnsTheErrorOfItsFunction(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 100)...)
	stop := errors.New("enough")
	n := 0
	err := c.Read(t.Context(), topic, nil, nil, func(event.Event) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d calls", err, n)
	}
	if err := c.Read(t.Context(), topic, map[int32]int64{0: 1 << 40}, map[int32]int64{0: 1 << 41}, nil); err != nil {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestReadSurvivesFaults(t *testing.T) {
	b, c := embedded(t)
	evs := newEvents(topic, "a", 1000)
	appendAll(t, c, evs...)
	faults := b.Cluster().Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: 2},
		kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.UnknownTopicOrPartition, Count: 2},
		kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.LeaderNotAvailable, Count: 2},
	)
	got := readAll(t, c, topic)
	if len(got) != 1000 || faults.Hits() < 6 {
		t.Errorf("%d events after %d faults", len(got), faults.Hits())
	}
	checkOrder(t, got)
}

// A log that ends in records that are no events must not hang a bounded read.
func TestReadPassesForeignRecords(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvent(topic, "k", "one"))
	tx := franz(t, b, kgo.TransactionalID("t"))
	if err := tx.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	put(t, tx, &kgo.Record{Topic: topic, Value: []byte("not an event")}, &kgo.Record{Topic: topic})
	if err := tx.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	compressed := franz(t, b, kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	put(t, compressed, raw(t, newEvent(topic, "k", "two"), 0)...)
	marker := franz(t, b, kgo.TransactionalID("u"))
	if err := marker.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	put(t, marker, raw(t, newEvent(topic, "k", "three"), 0)...)
	if err := marker.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if got := nameSet(readAll(t, c, topic)); len(got) != 3 {
		t.Errorf("read %v", got)
	}
	if lost := c.Stats().Lost; lost != 2 {
		t.Errorf("%d records counted as lost, want 2", lost)
	}
}

func TestFollowGoesOnThroughARestart(t *testing.T) {
	b, c := embedded(t)
	appendAll(t, c, newEvents(topic, "a", 50)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan event.Event, 1000)
	done := make(chan error, 1)
	go func() {
		done <- c.Follow(ctx, []string{topic, otherTopic}, nil, func(ev event.Event) error { got <- ev; return nil })
	}()
	collect := func(n int) (evs []event.Event) {
		for range n {
			select {
			case ev := <-got:
				evs = append(evs, ev)
			case <-time.After(20 * time.Second):
				t.Fatalf("%d of %d events", len(evs), n)
			}
		}
		return evs
	}
	checkHas(t, collect(50), newEvents(topic, "a", 50))
	b.Stop(t)
	b.Restart(t)
	appendAll(t, c, newEvents(otherTopic, "b", 50)...)
	checkHas(t, collect(50), newEvents(otherTopic, "b", 50))
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFollowBeginsWhereItIsTold(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 50)...)
	ends, err := c.HighWatermarks(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, c, newEvent(topic, "k", "new"))
	stop := errors.New("seen")
	var first string
	err = c.Follow(t.Context(), []string{topic}, bus.Positions{topic: ends}, func(ev event.Event) error {
		first = string(ev.Payload)
		return stop
	})
	if !errors.Is(err, stop) || first != "new" {
		t.Errorf("%v, %q", err, first)
	}
}

// A broker that answers fetches with nothing although there is something.
func TestAStalledPartitionIsNoticed(t *testing.T) {
	b, _ := embedded(t)
	cfg := b.Config()
	cfg.StallTimeout = 50 * time.Millisecond
	c := b.ClientWith(t, cfg, bus.Settings{})
	appendAll(t, c, newEvent(topic, "k", "a"))
	stalled := true
	b.Cluster().ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		if !stalled {
			return nil, nil, false
		}
		b.Cluster().KeepControl()
		if c.Stats().Stalls > 0 {
			stalled = false
		}
		return emptyFetch(kreq), nil, true
	})
	if got := readAll(t, c, topic); len(got) != 1 || c.Stats().Stalls == 0 {
		t.Errorf("%d events, %d stalls", len(got), c.Stats().Stalls)
	}
}

func emptyFetch(kreq kmsg.Request) kmsg.Response {
	req := kreq.(*kmsg.FetchRequest)
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition, rp.HighWatermark, rp.RecordBatches = p.Partition, 100, []byte{}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func TestStatsCount(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 10)...)
	readAll(t, c, topic)
	s := c.Stats()
	if s.Appended != 10 || s.Fetched != 10 || s.AppendedBytes == 0 || s.FetchedBytes == 0 {
		t.Errorf("got %s", fmt.Sprintf("%+v", s))
	}
}
