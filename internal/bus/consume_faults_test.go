package bus_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestAPoisonRecordGoesToDeadLettersAndThePartitionMovesOn(t *testing.T) {
	b, c := setup(t)
	cl := franz(t, b)
	put(t, cl, &kgo.Record{Topic: topic, Value: []byte("poison")})
	put(t, cl, raw(t, newEvent(topic, "k", "good"), 0)...)
	var mu sync.Mutex
	var letters []event.Record
	tries := 0
	poisoned := b.ClientWith(t, b.Config(), bus.Settings{
		DeadLetter: func(_ context.Context, r event.Record, reason error) error {
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries < 3 {
				return errors.New("not now")
			}
			if reason == nil {
				t.Error("no reason given")
			}
			letters = append(letters, r)
			return nil
		},
	})
	ensure(t, c)
	var r recorder
	stop := consume(t, poisoned, &r, nil, topic)
	eventually(t, "the good one comes", func() bool { return len(r.seen()) == 1 })
	eventually(t, "all is committed", func() bool { return committed(t, b, topic)[0] == 2 })
	mustStop(t, stop)
	if len(letters) != 1 || string(letters[0].Value) != "poison" || letters[0].Offset != 0 || tries != 3 {
		t.Errorf("%d tries, letters %v", tries, letters)
	}
}

// Many groups read the same poison; one of them keeps it.
func TestOnePoisonRecordIsOneLetterForAllGroups(t *testing.T) {
	b, c := setup(t)
	put(t, franz(t, b), &kgo.Record{Topic: topic, Value: []byte("poison")})
	letters := make(chan string, 9)
	set := bus.Settings{Letters: func(name string) bool { return name == "keeper" }}
	set.DeadLetter = func(_ context.Context, r event.Record, _ error) error {
		letters <- string(r.Value)
		return nil
	}
	poisoned := b.ClientWith(t, b.Config(), set)
	ensure(t, c)
	var r recorder
	stop := consume(t, poisoned, &r, nil, topic)
	eventually(t, "it is passed by", func() bool { return committed(t, b, topic)[0] == 1 })
	mustStop(t, stop)
	if len(letters) != 0 {
		t.Errorf("%d letters of a group that keeps none", len(letters))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- poisoned.Consume(ctx, "keeper", []string{topic}, nil, &recorder{}) }()
	eventually(t, "the letter is written", func() bool { return len(letters) == 1 })
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAFailingOrPanickingHandlerEndsConsume(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 100)...)
	bad := errors.New("bad")
	for name, process := range map[string]func(*bus.Claim, bus.Batch) error{
		"error": func(*bus.Claim, bus.Batch) error { return bad },
		"panic": func(*bus.Claim, bus.Batch) error { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			r := recorder{process: process}
			err := c.Consume(t.Context(), group, []string{topic}, nil, &r)
			if name == "error" && !errors.Is(err, bad) || name == "panic" && (err == nil || !strings.Contains(err.Error(), "boom")) {
				t.Errorf("got %v", err)
			}
			if r.held() != 0 {
				t.Errorf("%d partitions were not given back", r.held())
			}
		})
	}
	if got := sum(committed(t, b, topic)); got != 0 {
		t.Errorf("%d committed", got)
	}
}

// dropMembers has the group give up everyone in it.
func dropMembers(t *testing.T, b cluster) {
	t.Helper()
	cl := franz(t, b)
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{cl.prefix + group}
	res, err := describe.RequestWith(t.Context(), cl.Client)
	if err != nil {
		t.Fatal(err)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = cl.prefix + group
	for _, m := range res.Groups[0].Members {
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.MemberID
		leave.Members = append(leave.Members, member)
	}
	if _, err := leave.RequestWith(t.Context(), cl.Client); err != nil {
		t.Fatal(err)
	}
}

// A member that the group has given up must flush and commit nothing.
func TestAFencedMemberIsToldThatItLost(t *testing.T) {
	b, c := setup(t)
	appendAll(t, c, newEvents(topic, "a", 100)...)
	r := recorder{process: func(*bus.Claim, bus.Batch) error { return nil }}
	stop := consume(t, c, &r, nil, topic)
	eventually(t, "all are processed", func() bool { return len(r.seen()) == 100 })
	dropMembers(t, b)
	eventually(t, "the partitions are lost", func() bool { return r.count(&r.lost) == testPartitions })
	eventually(t, "it joins again and reads again", func() bool { return len(r.seen()) == 200 })
	mustStop(t, stop)
}

func TestConsumeSurvivesRestartsAndFaults(t *testing.T) {
	b, c := embedded(t)
	var r recorder
	stop := consume(t, c, &r, nil, topic)
	var all []event.Event
	for round := range 3 {
		evs := newEvents(topic, fmt.Sprint(round), 200)
		appendAll(t, c, evs...)
		all = append(all, evs...)
		b.Cluster().Fault(
			kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator},
			kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.CoordinatorNotAvailable},
			kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Err: kerr.CoordinatorLoadInProgress},
			kfake.Fault{Keys: []kmsg.Key{kmsg.FindCoordinator}, Err: kerr.CoordinatorNotAvailable},
		)
		eventually(t, "all are processed", func() bool { return len(nameSet(r.seen())) == len(all) })
		b.Stop(t)
		b.Restart(t)
	}
	eventually(t, "all are committed", func() bool { return sum(committed(t, b, topic)) == int64(len(all)) })
	mustStop(t, stop)
	checkHas(t, r.seen(), all)
}

func TestConsumeNamesWhatItCannotDo(t *testing.T) {
	b, c := setup(t)
	err := c.Consume(t.Context(), group, []string{topic, topics.Runs}, nil, &recorder{})
	if err == nil || !strings.Contains(err.Error(), topics.Runs+" has 1") || !strings.Contains(err.Error(), topic+" has 3") {
		t.Errorf("different partition counts: %v", err)
	}
	if err := c.Consume(t.Context(), group, []string{"missing"}, nil, &recorder{}); !errors.Is(err, bus.ErrNoTopic) {
		t.Errorf("missing topic: %v", err)
	}
	if err := c.Consume(t.Context(), group, nil, nil, &recorder{}); err == nil {
		t.Error("no topics: no error")
	}
	closed := b.Client(t)
	appendAll(t, closed, newEvent(topic, "k", "a"))
	done := make(chan error, 1)
	var r recorder
	go func() { done <- closed.Consume(t.Context(), group, []string{topic}, nil, &r) }()
	eventually(t, "it runs", func() bool { return r.held() > 0 })
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, bus.ErrClosed) {
		t.Errorf("closed client: %v", err)
	}
}

// A member that waits for others to join must still be able to stop.
func TestConsumeStopsWhileItJoins(t *testing.T) {
	b, c := embedded(t)
	joining := make(chan struct{}, 10)
	release := make(chan struct{})
	defer close(release)
	b.Cluster().ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster().KeepControl()
		joining <- struct{}{}
		b.Cluster().SleepControl(func() { <-release })
		return nil, nil, false
	})
	stop := consume(t, c, &recorder{}, nil, topic)
	<-joining
	mustStop(t, stop)
}

// A member that is told to join again, while others come, and is asked to end leaves nothing in the group that holds partitions.
func TestWhoEndsInARebalanceIsGone(t *testing.T) {
	b, c := embedded(t)
	cfg := b.Config()
	cfg.SessionTimeout, cfg.RequestTimeout = time.Minute, time.Minute // for neither of which a member that is gone is waited for
	first := &recorder{}
	stop := consume(t, b.ClientWith(t, cfg, bus.Settings{}), first, nil, topic)
	eventually(t, "it has joined", func() bool { return first.held() == testPartitions })
	var restless atomic.Bool
	restless.Store(true)
	told := make(chan struct{}, 1)
	b.Cluster().ControlKey(int16(kmsg.SyncGroup), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster().KeepControl()
		if !restless.Load() {
			return nil, nil, false
		}
		select {
		case told <- struct{}{}:
		default:
		}
		res := req.ResponseKind().(*kmsg.SyncGroupResponse)
		res.ErrorCode = kerr.RebalanceInProgress.Code
		return res, nil, true
	})
	second := &recorder{}
	stopSecond := consume(t, b.ClientWith(t, cfg, bus.Settings{}), second, nil, topic)
	<-told
	eventually(t, "the first is told to join again", func() bool { return first.held() == 0 })
	mustStop(t, stop)
	restless.Store(false)
	eventually(t, "the second holds all", func() bool { return second.held() == testPartitions })
	mustStop(t, stopSecond)
	if n, err := c.Members(t.Context(), group); err != nil || n != 0 {
		t.Errorf("%d members are left: %v", n, err)
	}
}

// A batch whose checksum is right and whose records are none is a dead letter like any other record that is no event.
func TestABatchWithoutRecordsStopsNobody(t *testing.T) {
	b, c := embedded(t) // Kafka's own broker refuses to append one
	cl := franz(t, b)
	batch := kmsg.RecordBatch{PartitionLeaderEpoch: -1, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1, Records: []byte("no records")}
	data := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(data[8:], uint32(len(data)-12))
	binary.BigEndian.PutUint32(data[17:], crc32.Checksum(data[21:], crc32.MakeTable(crc32.Castagnoli)))
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 5000
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = data
	named := kmsg.NewProduceRequestTopic()
	ids, err := c.TopicIDs(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	named.Topic, named.TopicID, named.Partitions = topic, ids[topic], []kmsg.ProduceRequestTopicPartition{part}
	req.Topics = []kmsg.ProduceRequestTopic{named}
	res, err := req.RequestWith(t.Context(), cl)
	if err != nil || res.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("%v, %+v", err, res)
	}
	put(t, cl, raw(t, newEvent(topic, "k", "good"), 0)...)
	letters := make(chan event.Record, 9)
	keeper := b.ClientWith(t, b.Config(), bus.Settings{DeadLetter: func(_ context.Context, r event.Record, _ error) error {
		letters <- r
		return nil
	}})
	ensure(t, c)
	var r recorder
	stop := consume(t, keeper, &r, nil, topic)
	eventually(t, "the good one comes", func() bool { return len(r.seen()) == 1 })
	eventually(t, "all is committed", func() bool { return committed(t, b, topic)[0] == 2 })
	mustStop(t, stop)
	if l := <-letters; l.Offset != 0 || l.Key != nil || !strings.Contains(string(l.Value), "no records") {
		t.Errorf("%+v", l)
	}
	found := 0
	if err := c.Read(t.Context(), topic, nil, nil, func(event.Event) error { found++; return nil }); err != nil || found != 1 {
		t.Errorf("%d events read: %v", found, err)
	}
}
