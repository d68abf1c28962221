package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/topics"
	"github.com/seed256f7767/spade/test/kafka/broker"
)

// ask opens a client that may do everything, to see what the bus does not show.
func ask(t *testing.T, c *broker.Cluster) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs(broker.Plain)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// leader is the node that leads the first partition of the topic.
func leader(t *testing.T, c *broker.Cluster, cfg bus.Config) *broker.Node {
	t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	name := cfg.Prefix + topic
	rt.Topic = &name
	req.Topics = append(req.Topics, rt)
	var id int32
	cl := ask(t, c)
	eventually(t, "the partition has a leader", func() bool {
		res, err := req.RequestWith(t.Context(), cl)
		if err != nil || len(res.Topics) != 1 || len(res.Topics[0].Partitions) == 0 {
			return false
		}
		id = res.Topics[0].Partitions[0].Leader
		return id > 0
	})
	return c.Nodes[id-1]
}

// coordinator is the node that the test's group belongs to.
func coordinator(t *testing.T, c *broker.Cluster, cfg bus.Config) *broker.Node {
	t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = cfg.Prefix+groupName, []string{cfg.Prefix + groupName}
	cl := ask(t, c)
	var id int32
	eventually(t, "the group has a coordinator", func() bool {
		res, err := req.RequestWith(t.Context(), cl)
		if err != nil || len(res.Coordinators) != 1 {
			return false
		}
		id = res.Coordinators[0].NodeID
		return id > 0
	})
	return c.Nodes[id-1]
}

// How a node is lost, and how it comes back.
var losses = map[string]struct {
	lose, back func(*testing.T, *broker.Node)
}{
	"killed": {
		func(t *testing.T, n *broker.Node) { must(t, n.Kill()) },
		func(t *testing.T, n *broker.Node) { restart(t, n) },
	},
	"stopped in its tracks": { // connections stay open and nothing answers
		func(t *testing.T, n *broker.Node) { must(t, n.Pause()) },
		func(t *testing.T, n *broker.Node) { must(t, n.Resume()); restart(t, n) },
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was acknowledged outlives the broker that said so.
func TestTheLeaderIsLostWhileEventsAreAppended(t *testing.T) {
	for name, how := range losses {
		t.Run(name, func(t *testing.T) {
			cl, cfg, c := setup(t)
			tr := drive(t, c)
			tr.more(t, 500)
			n := leader(t, cl, cfg)
			how.lose(t, n)
			tr.more(t, 500)
			how.back(t, n)
			tr.more(t, 500)
			tr.check(t, c)
		})
	}
}

// A group goes on when the broker that keeps it is lost.
func TestTheCoordinatorIsLostWhileAGroupConsumes(t *testing.T) {
	for name, how := range losses {
		t.Run(name, func(t *testing.T) {
			cl, cfg, c := setup(t)
			tr := drive(t, c)
			first, second := consume(t, client(t, cfg)), consume(t, client(t, cfg))
			both := func() int { return first.len() + second.len() }
			eventually(t, "both consume", func() bool { return first.len() > 0 && second.len() > 0 })
			n := coordinator(t, cl, cfg)
			how.lose(t, n)
			tr.more(t, 500)
			before := both()
			eventually(t, "the group goes on", func() bool { return both() > before+500 })
			how.back(t, n)
			tr.more(t, 500)
			tr.check(t, c)
			all := int(tr.acked.Load())
			eventually(t, "all is consumed", func() bool { return union(first, second).len() == all })
			union(first, second).check(t, tr.counts)
			must(t, first.stop())
			must(t, second.stop())
			committedAll(t, cl, cfg, c)
		})
	}
}

// union is what two members have seen. Each saw its events of a key in order, and repeats do not count.
func union(groups ...*group) *fold {
	all := &fold{}
	latest := map[string]bool{}
	for _, g := range groups {
		g.mu.Lock()
		for key, names := range g.byKey {
			for _, name := range names {
				if latest[name] {
					continue
				}
				latest[name] = true
				_ = all.add(named(key, name)) // never fails
			}
		}
		g.mu.Unlock()
	}
	all.sort()
	return all
}

// Restarting one broker after the other, as an upgrade does, is not noticed but for the time that it takes.
func TestARollingRestart(t *testing.T) {
	cl, cfg, c := setup(t)
	tr := drive(t, c)
	g := consume(t, client(t, cfg))
	for _, n := range cl.Nodes {
		tr.more(t, 200)
		must(t, n.Stop(t.Context()))
		tr.more(t, 200)
		restart(t, n)
	}
	tr.more(t, 200)
	tr.check(t, c)
	eventually(t, "all is consumed", func() bool { return g.len() == int(tr.acked.Load()) })
	g.check(t, tr.counts)
	must(t, g.stop())
	committedAll(t, cl, cfg, c)
}

// Without a second replica nothing is acknowledged; what waits is appended when one comes back.
func TestTooFewReplicasAreWaitedFor(t *testing.T) {
	cl, cfg, c := setup(t)
	must(t, c.Append(t.Context(), newEvent("key", 0)))
	keep := leader(t, cl, cfg)
	var others []*broker.Node
	for _, n := range cl.Nodes {
		if n != keep {
			must(t, n.Kill())
			others = append(others, n)
		}
	}
	cfg.DeliveryTimeout = 3 * time.Second
	err := client(t, cfg).Append(t.Context(), newEvent("key", 1))
	if !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("with one broker of three: %v", err)
	}
	cfg.DeliveryTimeout = 5 * time.Minute
	patient := client(t, cfg)
	done := make(chan error, 1)
	go func() { done <- patient.Append(t.Context(), newEvent("key", 1)) }()
	restart(t, others...)
	if err := <-done; err != nil {
		t.Errorf("after they came back: %v", err)
	}
	seen := fold{}
	must(t, c.Read(t.Context(), topic, nil, nil, seen.add))
	seen.check(t, map[string]int{"key": 2})
}

// Replicas are what the settings say, and a client that asks for others is told.
func TestTopicsHaveTheReplicasThatWereAskedFor(t *testing.T) {
	cl, cfg, c := setup(t)
	must(t, c.EnsureTopics(t.Context(), topics.All(partitions)))
	res, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), ask(t, cl))
	must(t, err)
	n := 0
	for _, of := range res.Topics {
		if of.Topic == nil || len(*of.Topic) < len(cfg.Prefix) || (*of.Topic)[:len(cfg.Prefix)] != cfg.Prefix {
			continue
		}
		n++
		for _, p := range of.Partitions {
			if len(p.Replicas) != 3 {
				t.Errorf("%s/%d has %d replicas", *of.Topic, p.Partition, len(p.Replicas))
			}
		}
	}
	if n != len(topics.All(1)) {
		t.Errorf("%d topics", n)
	}
	var mismatch *bus.MismatchError
	if err := c.EnsureTopics(t.Context(), topics.All(partitions+1)); !errors.As(err, &mismatch) {
		t.Errorf("another partition count: %v", err)
	}
}
