package bus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

const group = "g"

// recorder is a Handler that keeps what it is given and commits at once.
type recorder struct {
	process func(cl *bus.Claim, b bus.Batch) error // instead of committing b.Next

	mu      sync.Mutex // guards the following
	events  []event.Event
	claims  map[int32]int // claims held now
	idle    int
	revoked int
	lost    int
	most    int // most claims held at once
}

type recorderProc struct {
	r  *recorder
	cl *bus.Claim
}

func (r *recorder) Assigned(_ context.Context, cl *bus.Claim) (bus.Processor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claims == nil {
		r.claims = map[int32]int{}
	}
	r.claims[cl.Partition]++
	r.most = max(r.most, len(r.claims))
	return &recorderProc{r, cl}, nil
}

func (p *recorderProc) Process(_ context.Context, b bus.Batch) error {
	p.r.mu.Lock()
	p.r.events = append(p.r.events, b.Events...)
	p.r.mu.Unlock()
	if p.r.process != nil {
		return p.r.process(p.cl, b)
	}
	return p.cl.Commit(b.Topic, b.Next)
}

func (p *recorderProc) Idle(context.Context) error {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.r.idle++
	return nil
}

func (p *recorderProc) Revoked(context.Context) error {
	p.drop()
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.r.revoked++
	return nil
}

func (p *recorderProc) Lost() {
	p.drop()
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.r.lost++
}

func (p *recorderProc) drop() {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	delete(p.r.claims, p.cl.Partition)
}

func (r *recorder) seen() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event.Event(nil), r.events...)
}

func (r *recorder) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.claims)
}

func (r *recorder) count(field *int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *field
}

// consume runs Consume until the returned function is called, which returns its error.
func consume(t *testing.T, c *bus.Client, h bus.Handler, start bus.Positions, names ...string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Consume(ctx, group, names, start, h) }()
	end := sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return errors.New("consume does not end")
		}
	})
	t.Cleanup(func() {
		if err := end(); err != nil && !t.Failed() {
			t.Logf("consume ended with %v", err)
		}
	})
	return end
}

func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// committed is the group's offset of every partition of a topic that has one.
func committed(t *testing.T, b cluster, topic string) map[int32]int64 {
	t.Helper()
	cfg := b.Config()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = cfg.Prefix + group
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic = cfg.Prefix + topic
	for p := range int32(testPartitions) {
		rt.Partitions = append(rt.Partitions, p)
	}
	req.Topics = append(req.Topics, rt)
	// Later versions name topics by their id.
	cl := franz(t, b, kgo.MaxVersions(kversion.V2_8_0()))
	defer cl.Close()
	out := map[int32]int64{}
	res, err := req.RequestWith(t.Context(), cl.Client)
	if err != nil {
		return out // the broker is away for a moment
	}
	for _, of := range res.Topics {
		for _, p := range of.Partitions {
			if p.ErrorCode == 0 && p.Offset >= 0 {
				out[p.Partition] = p.Offset
			}
		}
	}
	return out
}

// assignments are the members' partitions of each topic.
func assignments(t *testing.T, b cluster) (out []map[string]string) {
	t.Helper()
	cfg := b.Config()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{cfg.Prefix + group}
	res, err := req.RequestWith(t.Context(), franz(t, b).Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range res.Groups[0].Members {
		var a kmsg.ConsumerMemberAssignment
		if err := a.ReadFrom(m.MemberAssignment); err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for _, topic := range a.Topics {
			of[strings.TrimPrefix(topic.Topic, cfg.Prefix)] = fmt.Sprint(topic.Partitions)
		}
		out = append(out, of)
	}
	return out
}

func sum(offsets map[int32]int64) (n int64) {
	for _, o := range offsets {
		n += o
	}
	return n
}

func TestConsumeDeliversInOrderAndCommitsEveryBatch(t *testing.T) {
	b, c := setup(t)
	var r recorder
	stop := consume(t, c, &r, nil, topic, otherTopic)
	for round := range 3 {
		evs := newEvents(topic, fmt.Sprint("a", round), 500)
		appendAll(t, c, evs...)
		appendAll(t, c, newEvents(otherTopic, fmt.Sprint("b", round), 100)...)
		eventually(t, "all are processed", func() bool { return len(r.seen()) == (round+1)*600 })
		eventually(t, "all are committed", func() bool {
			return sum(committed(t, b, topic)) == int64(round+1)*500 && sum(committed(t, b, otherTopic)) == int64(round+1)*100
		})
	}
	mustStop(t, stop)
	var ofTopic []event.Event
	for _, ev := range r.seen() {
		if ev.Topic == topic {
			ofTopic = append(ofTopic, ev)
		}
	}
	checkOrder(t, ofTopic)
	if r.revoked != testPartitions || r.lost != 0 || r.idle == 0 {
		t.Errorf("revoked %d, lost %d, idle %d", r.revoked, r.lost, r.idle)
	}
}

func TestWhatIsNotCommittedComesAgain(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 100)...)
	first := recorder{process: func(*bus.Claim, bus.Batch) error { return nil }}
	stop := consume(t, c, &first, nil, topic)
	eventually(t, "all are processed", func() bool { return len(first.seen()) == 100 })
	mustStop(t, stop)
	if got := sum(committed(t, b, topic)); got != 0 {
		t.Fatalf("%d committed without the handler's word", got)
	}
	var second recorder
	stop = consume(t, c, &second, nil, topic)
	eventually(t, "all come again", func() bool { return len(second.seen()) == 100 })
	mustStop(t, stop)
	var third recorder
	stop = consume(t, c, &third, nil, topic)
	eventually(t, "it has the partitions", func() bool { return third.held() == testPartitions })
	appendAll(t, c, newEvent(topic, "k", "new"))
	eventually(t, "the new one comes", func() bool { return len(third.seen()) == 1 })
	mustStop(t, stop)
}

// A partition that had no record when the group ended must not jump to its end.
func TestAPartitionThatWasEmptyIsReadFromItsFirstRecord(t *testing.T) {
	b, c := setup(t)
	cl := franz(t, b)
	for p := range int32(2) {
		rec := raw(t, newEvent(topic, "k", fmt.Sprint("early", p)), 0)[0]
		rec.Partition = p
		put(t, cl, rec)
	}
	var first recorder
	stop := consume(t, c, &first, nil, topic)
	eventually(t, "two are processed", func() bool { return len(first.seen()) == 2 })
	mustStop(t, stop)
	rec := raw(t, newEvent(topic, "k", "late"), 0)[0]
	rec.Partition = 2
	put(t, cl, rec)
	var second recorder
	stop = consume(t, c, &second, nil, topic)
	eventually(t, "the late one comes", func() bool { return len(second.seen()) == 1 })
	mustStop(t, stop)
}

func TestTwoMembersShareThePartitionsAndLoseNothing(t *testing.T) {
	b, c := setup(t)
	var all []event.Event
	write := func(round int) {
		for i := range 10 {
			evs := newEvents(topic, fmt.Sprintf("%d-%d", round, i), 50)
			appendAll(t, c, evs...)
			all = append(all, evs...)
		}
	}
	var one, two recorder
	stopOne := consume(t, c, &one, nil, topic, otherTopic)
	write(0)
	stopTwo := consume(t, b.Client(t), &two, nil, topic, otherTopic)
	write(1)
	eventually(t, "both have partitions", func() bool { return one.held() > 0 && two.held() > 0 })
	write(2)
	eventually(t, "all are committed", func() bool { return sum(committed(t, b, topic)) == int64(len(all)) })
	if n := one.held() + two.held(); n != testPartitions {
		t.Errorf("%d claims, want %d", n, testPartitions)
	}
	for _, of := range assignments(t, b) {
		if of[topic] == "" || of[topic] != of[otherTopic] {
			t.Errorf("a member has %v", of)
		}
	}
	mustStop(t, stopOne)
	eventually(t, "the other takes over", func() bool { return two.held() == testPartitions })
	write(3)
	eventually(t, "all are committed", func() bool { return sum(committed(t, b, topic)) == int64(len(all)) })
	mustStop(t, stopTwo)
	got := append(one.seen(), two.seen()...)
	checkHas(t, got, all)
	if len(got) != len(all) {
		t.Errorf("%d deliveries of %d events: an orderly rebalance repeats none", len(got), len(all))
	}
}

func TestMoreMembersThanPartitions(t *testing.T) {
	b, c := setup(t)
	var rs [2]recorder
	for i := range rs {
		consume(t, b.Client(t), &rs[i], nil, topics.Runs)
	}
	eventually(t, "one has it", func() bool { return rs[0].held()+rs[1].held() == 1 })
	appendAll(t, c, newEvent(topics.Runs, "k", "a"))
	eventually(t, "it comes", func() bool { return len(rs[0].seen())+len(rs[1].seen()) == 1 })
}

func TestStartPositionsCountOnlyWithoutACommit(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "old", 100)...)
	ends, err := c.HighWatermarks(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, c, newEvents(topic, "new", 10)...)
	var r recorder
	stop := consume(t, c, &r, bus.Positions{topic: ends}, topic)
	eventually(t, "the new ones come", func() bool { return len(r.seen()) == 10 })
	mustStop(t, stop)
	var again recorder
	stop = consume(t, c, &again, bus.Positions{topic: {0: 0, 1: 0, 2: 0}}, topic)
	eventually(t, "it has the partitions", func() bool { return again.held() == testPartitions })
	appendAll(t, c, newEvent(topic, "k", "last"))
	eventually(t, "the last comes", func() bool { return len(again.seen()) == 1 })
	mustStop(t, stop)
}

func TestAHandlerMayStartElsewhere(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvents(topic, "old", 100)...)
	ends, err := c.HighWatermarks(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, c, newEvents(topic, "new", 10)...)
	var r recorder
	h := bus.HandlerFunc(func(ctx context.Context, cl *bus.Claim) (bus.Processor, error) {
		if err := cl.StartAt(topic, ends[cl.Partition]); err != nil {
			return nil, err
		}
		return r.Assigned(ctx, cl)
	})
	stop := consume(t, c, h, nil, topic)
	eventually(t, "only the new ones come", func() bool { return len(r.seen()) == 10 })
	mustStop(t, stop)
}

func TestACommitBeyondWhatWasDeliveredIsABug(t *testing.T) {
	_, c := setup(t)
	appendAll(t, c, newEvent(topic, "k", "a"))
	r := recorder{process: func(cl *bus.Claim, b bus.Batch) error { return cl.Commit(b.Topic, b.Next+1) }}
	err := c.Consume(t.Context(), group, []string{topic}, nil, &r)
	if !errors.Is(err, bus.ErrCommit) {
		t.Fatalf("got %v", err)
	}
	if r.lost != 1 {
		t.Errorf("the failed partition was told %d times that it is lost", r.lost)
	}
}

func TestNoCommitPassesAnOpenLargeEvent(t *testing.T) {
	b, c := setup(t)
	cl := franz(t, b)
	parts := raw(t, newEvent(topic, "k", strings.Repeat("x", 250)), 100)
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	put(t, cl, raw(t, newEvent(topic, "k", "before"), 0)...) // offset 0
	put(t, cl, parts[0], parts[1])                           // 1, 2
	put(t, cl, raw(t, newEvent(topic, "k", "between"), 0)...)
	var r recorder
	stop := consume(t, c, &r, nil, topic)
	eventually(t, "two come", func() bool { return len(r.seen()) == 2 })
	mustStop(t, stop)
	if got := committed(t, b, topic)[0]; got != 1 {
		t.Fatalf("committed %d, want 1: the first part's offset", got)
	}
	var again recorder
	stop = consume(t, c, &again, nil, topic)
	eventually(t, "the one between comes again", func() bool { return len(again.seen()) == 1 })
	put(t, cl, parts[2]) // 4
	eventually(t, "the whole comes", func() bool { return len(again.seen()) == 2 })
	eventually(t, "all is committed", func() bool { return committed(t, b, topic)[0] == 5 })
	mustStop(t, stop)
	if ev := again.seen()[1]; len(ev.Payload) != 250 || ev.Offset != 1 || ev.LastOffset != 4 {
		t.Errorf("%d bytes at %d to %d", len(ev.Payload), ev.Offset, ev.LastOffset)
	}
}

// A commit between a large event's records must wait until the event is durable,
// also when the event is complete by then.
func TestACommitInsideALargeEventStopsBeforeIt(t *testing.T) {
	b, c := setup(t)
	cl := franz(t, b)
	parts := raw(t, newEvent(topic, "k", strings.Repeat("x", 150)), 100)
	put(t, cl, parts[0])                                      // 0
	put(t, cl, raw(t, newEvent(topic, "k", "between"), 0)...) // 1
	put(t, cl, parts[1])                                      // 2
	r := recorder{process: func(cl *bus.Claim, b bus.Batch) error {
		if b.Next < 3 {
			return nil
		}
		return cl.Commit(b.Topic, 2)
	}}
	stop := consume(t, c, &r, nil, topic)
	eventually(t, "both come", func() bool { return len(r.seen()) == 2 })
	mustStop(t, stop)
	if got := committed(t, b, topic)[0]; got != 0 {
		t.Errorf("committed %d, want 0", got)
	}
}

// slow is a process of two partitions that has something to finish in one of them when it is asked to stop.
type slow struct {
	claim   *bus.Claim
	begun   chan<- struct{}
	takes   time.Duration
	stopped <-chan struct{}
}

func (p slow) Process(ctx context.Context, b bus.Batch) error {
	p.begun <- struct{}{}
	<-p.stopped
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.claim.Commit(b.Topic, b.Next)
}
func (slow) Idle(context.Context) error    { return nil }
func (slow) Revoked(context.Context) error { return nil }
func (slow) Lost()                         {}

// Partitions that have nothing to do end at once when Consume is asked to stop. Those that have keep their time, although it is
// longer than a rebalance gives.
// What ends all partitions is said once, by the first.
func TestWhatEndsManyPartitionsIsSaidOnce(t *testing.T) {
	b, _ := setup(t)
	cfg := b.Config()
	cfg.StopTimeout = time.Minute // the others fail as well, however late
	c := b.ClientWith(t, cfg, bus.Settings{})
	broken := errors.New("no room")
	var assigned atomic.Int32
	two := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := c.Consume(ctx, group, []string{topic}, nil, bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
		if assigned.Add(1) == 2 {
			close(two)
		}
		select {
		case <-two:
		case <-ctx.Done():
		}
		return nil, broken
	}))
	if !errors.Is(err, broken) || strings.Count(err.Error(), "no room") != 1 || !strings.Contains(err.Error(), " more partitions)") {
		t.Error(err)
	}
}

func TestStoppingGivesEveryPartitionItsTime(t *testing.T) {
	b, c := setup(t)
	cfg := b.Config()
	cfg.RevokeTimeout, cfg.StopTimeout = 100*time.Millisecond, time.Minute
	begun, stopped := make(chan struct{}, 1), make(chan struct{})
	stop := consume(t, b.ClientWith(t, cfg, bus.Settings{}), bus.HandlerFunc(func(_ context.Context, claim *bus.Claim) (bus.Processor, error) {
		return slow{claim, begun, 5 * cfg.RevokeTimeout, stopped}, nil
	}), nil, topic)
	appendAll(t, c, newEvent(topic, "k", "a"))
	<-begun
	close(stopped)
	mustStop(t, stop)
	if got := sum(committed(t, b, topic)); got != 1 {
		t.Errorf("%d records are committed, want the one that was being worked on", got)
	}
}
