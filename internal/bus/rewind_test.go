package bus_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

const wentBack = "going back to its end"

// logged is a client's log.
type logged struct {
	mu  sync.Mutex // guards the following
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// logging opens a client whose log the test reads.
func logging(t *testing.T, b cluster) (*bus.Client, *logged) {
	t.Helper()
	log := &logged{}
	return b.ClientWith(t, b.Config(), bus.Settings{Logger: slog.New(slog.NewTextHandler(log, nil))}), log
}

// follow keeps what a follower is given.
func follow(t *testing.T, c *bus.Client, from bus.Positions) (seen func() []event.Event, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var r recorder
	done := make(chan error, 1)
	go func() {
		done <- c.Follow(ctx, []string{topic}, from, func(ev event.Event) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, ev)
			return nil
		})
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() }) // whatever it was, the test has ended
	return r.seen, stop
}

// A log that lost records, as in a power cut, ends before what readers have reached. They go on from its end.
func TestReadersFollowALogThatLostRecords(t *testing.T) {
	b, c := embedded(t)
	watcher, log := logging(t, b)
	appendAll(t, c, newEvents(topic, "kept", 50)...)
	forget := b.Keep(t)
	seen, stop := follow(t, watcher, nil)
	var r recorder
	stopGroup := consume(t, watcher, &r, nil, topic)
	appendAll(t, c, newEvents(topic, "lost", 50)...)
	eventually(t, "all are seen", func() bool { return len(nameSet(seen())) == 100 && len(nameSet(r.seen())) == 100 })
	forget()
	eventually(t, "the follower goes back", func() bool { return log.count(wentBack) >= testPartitions })
	fresh := newEvents(topic, "new", 10)
	appendAll(t, c, fresh...)
	eventually(t, "the new ones are seen", func() bool { return len(nameSet(seen())) == 110 && len(nameSet(r.seen())) == 110 })
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("the follower ended: %v", err)
	}
	mustStop(t, stopGroup)
}

// A commit after the end of the log would make its group pass over the next records.
func TestACommitAfterTheEndIsTakenBack(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 30)...)
	commitAt(t, b, 1000)
	watcher, log := logging(t, b)
	var r recorder
	stop := consume(t, watcher, &r, nil, topic)
	eventually(t, "it goes back", func() bool { return log.count(wentBack) == testPartitions })
	appendAll(t, c, newEvents(topic, "b", 10)...)
	eventually(t, "the new ones come", func() bool { return len(nameSet(r.seen())) == 10 })
	mustStop(t, stop)
	if n := log.count("is interrupted"); n > 0 {
		t.Errorf("a claim was lost:\n%s", log)
	}
	var again recorder
	stop = consume(t, watcher, &again, nil, topic)
	eventually(t, "it has the partitions", func() bool { return again.held() == testPartitions })
	appendAll(t, c, newEvent(topic, "k", "last"))
	eventually(t, "the last comes", func() bool { return len(again.seen()) == 1 })
	mustStop(t, stop)
	if n := log.count(wentBack); n != testPartitions {
		t.Errorf("went back %d times:\n%s", n, log)
	}
}

// commitAt commits an offset for every partition of the group.
func commitAt(t *testing.T, b cluster, offset int64) {
	t.Helper()
	// Later versions name topics by their id.
	cl := franz(t, b, kgo.MaxVersions(kversion.V3_0_0()))
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = cl.prefix+group, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = cl.prefix + topic
	for p := range int32(testPartitions) {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p, offset
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	res, err := req.RequestWith(t.Context(), cl.Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			t.Fatal(kafka.Error(p.ErrorCode))
		}
	}
}

// What the log no longer holds was lost to the reader, who must hear of it.
func TestAPositionBeforeTheBeginningIsAnError(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 90)...)
	cl := franz(t, b)
	cut := kmsg.NewPtrDeleteRecordsRequest()
	cut.TimeoutMillis = 10_000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = cl.prefix + topic
	for p := range int32(testPartitions) {
		rp := kmsg.NewDeleteRecordsRequestTopicPartition()
		rp.Partition, rp.Offset = p, 5
		rt.Partitions = append(rt.Partitions, rp)
	}
	cut.Topics = append(cut.Topics, rt)
	if _, err := cut.RequestWith(t.Context(), cl.Client); err != nil {
		t.Fatal(err)
	}
	from := bus.Positions{topic: {0: 1, 1: 1, 2: 1}}
	if err := c.Follow(t.Context(), []string{topic}, from, func(event.Event) error { return nil }); !errors.Is(err, bus.ErrOutOfRange) {
		t.Errorf("the follower got %v", err)
	}
	if err := c.Read(t.Context(), topic, from[topic], nil, func(event.Event) error { return nil }); !errors.Is(err, bus.ErrOutOfRange) {
		t.Errorf("the reader got %v", err)
	}
}
