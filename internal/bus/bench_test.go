package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

const benchTopic = topics.Rollouts

// benchEvents makes events of 1 kB over many keys.
func benchEvents(n int) []event.Event {
	out := make([]event.Event, n)
	payload := make([]byte, 1000)
	for i := range out {
		out[i] = event.Event{
			Topic: benchTopic, Key: fmt.Sprint("key-", i%97), Type: "spade.v1.RolloutCompleted", ID: uuid.New(),
			Payload: payload, Time: time.Now(),
		}
	}
	return out
}

func benchClient(b *testing.B) (*bustest.Broker, *bus.Client) {
	b.Helper()
	broker := bustest.Start(b)
	c := broker.Client(b)
	if err := c.EnsureTopics(b.Context(), topics.All(topics.DefaultPartitions)); err != nil {
		b.Fatal(err)
	}
	return broker, c
}

// BenchmarkAppend appends 1 kB events, 1000 a call.
func BenchmarkAppend(b *testing.B) {
	_, c := benchClient(b)
	evs := benchEvents(1000)
	b.ReportAllocs()
	b.SetBytes(1000)
	for b.Loop() {
		if err := c.Append(b.Context(), evs...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(evs))/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendDurable appends 1 kB events, 1000 a call, from several goroutines at once, to a broker that calls fsync before
// it acknowledges.
func BenchmarkAppendDurable(b *testing.B) {
	const writers = 8
	c := bustest.StartDurable(b).Client(b)
	if err := c.EnsureTopics(b.Context(), topics.All(topics.DefaultPartitions)); err != nil {
		b.Fatal(err)
	}
	evs := benchEvents(1000)
	b.SetBytes(writers * 1000 * 1000)
	for b.Loop() {
		var g errgroup.Group
		for range writers {
			g.Go(func() error { return c.Append(b.Context(), evs...) })
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*writers*len(evs))/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendOne is the latency of one event.
func BenchmarkAppendOne(b *testing.B) {
	_, c := benchClient(b)
	evs := benchEvents(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Append(b.Context(), evs...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendRaw is kafka-go's Writer at its best, to compare with.
func BenchmarkAppendRaw(b *testing.B) {
	broker, _ := benchClient(b)
	cfg := broker.Config()
	mech, err := scram.Mechanism(scram.SHA256, cfg.User, cfg.Password.Reveal())
	if err != nil {
		b.Fatal(err)
	}
	tr := &kafka.Transport{SASL: mech}
	defer tr.CloseIdleConnections()
	w := &kafka.Writer{
		Addr: kafka.TCP(cfg.Brokers...), Topic: benchTopic, Transport: tr, Balancer: kafka.Murmur2Balancer{Consistent: true},
		RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond, BatchBytes: 1 << 20, BatchSize: 1000,
	}
	defer func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	}()
	evs := benchEvents(1000)
	msgs := make([]kafka.Message, len(evs))
	for i, ev := range evs {
		recs, err := event.Encode(ev, 0, uuid.New())
		if err != nil {
			b.Fatal(err)
		}
		msgs[i] = kafka.Message{Key: recs[0].Key, Value: recs[0].Value}
		for _, h := range recs[0].Headers {
			msgs[i].Headers = append(msgs[i].Headers, kafka.Header(h))
		}
	}
	b.ReportAllocs()
	b.SetBytes(1000)
	for b.Loop() {
		if err := w.WriteMessages(b.Context(), msgs...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(evs))/b.Elapsed().Seconds(), "events/s")
}

const readEvents = 100_000

func fill(b *testing.B, c *bus.Client) {
	b.Helper()
	evs := benchEvents(1000)
	for range readEvents / len(evs) {
		if err := c.Append(b.Context(), evs...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead scans a topic of 100 000 events of 1 kB.
func BenchmarkRead(b *testing.B) {
	_, c := benchClient(b)
	fill(b, c)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		err := c.Read(b.Context(), benchTopic, nil, nil, func(event.Event) error { n++; return nil })
		if err != nil || n != readEvents {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N*readEvents)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReadRaw is kafka-go's Reader over the same topic, to compare with.
func BenchmarkReadRaw(b *testing.B) {
	broker, c := benchClient(b)
	fill(b, c)
	ends, err := c.HighWatermarks(b.Context(), benchTopic)
	if err != nil {
		b.Fatal(err)
	}
	cfg := broker.Config()
	mech, err := scram.Mechanism(scram.SHA256, cfg.User, cfg.Password.Reveal())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for p, end := range ends {
			readRaw(b, cfg.Brokers, &kafka.Dialer{SASLMechanism: mech}, int(p), end)
		}
	}
	b.ReportMetric(float64(b.N*readEvents)/b.Elapsed().Seconds(), "events/s")
}

func readRaw(b *testing.B, brokers []string, d *kafka.Dialer, partition int, end int64) {
	b.Helper()
	if end == 0 {
		return
	}
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers: brokers, Dialer: d, Topic: benchTopic, Partition: partition, MinBytes: 1, MaxBytes: 1 << 20,
		MaxWait: 100 * time.Millisecond,
	})
	for {
		m, err := r.ReadMessage(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if m.Offset == end-1 {
			break
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFollowOne is the time from Append to the follower's call.
func BenchmarkFollowOne(b *testing.B) {
	_, c := benchClient(b)
	evs := benchEvents(1)
	seen := make(chan struct{})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- c.Follow(ctx, []string{benchTopic}, nil, func(event.Event) error { seen <- struct{}{}; return nil })
	}()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Append(b.Context(), evs...); err != nil {
			b.Fatal(err)
		}
		<-seen
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
}
