package kafka

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/test/kafka/broker"
)

// committedAll fails when the group has not committed the end of every partition.
func committedAll(t *testing.T, cl *broker.Cluster, cfg bus.Config, c *bus.Client) {
	t.Helper()
	ends, err := c.HighWatermarks(t.Context(), topic)
	must(t, err)
	// Later versions name topics by their id.
	franz, err := kgo.NewClient(kgo.SeedBrokers(cl.Addrs(broker.Plain)...), kgo.MaxVersions(kversion.V2_8_0()))
	must(t, err)
	defer franz.Close()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = cfg.Prefix + groupName
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic, rt.Partitions = cfg.Prefix+topic, []int32{0, 1, 2}
	req.Topics = append(req.Topics, rt)
	res, err := req.RequestWith(t.Context(), franz)
	must(t, err)
	for _, p := range res.Topics[0].Partitions {
		if p.Offset != ends[p.Partition] {
			t.Errorf("partition %d: committed %d, the log ends at %d", p.Partition, p.Offset, ends[p.Partition])
		}
	}
}

// named is the event of newEvent with that name.
func named(key, name string) event.Event {
	return event.Event{Key: key, Payload: []byte(name), ID: uuid.NewSHA1(uuid.Nil, []byte(name))}
}

func (f *fold) sort() {
	for _, names := range f.byKey {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(strings.Compare(a, b), 0) })
	}
}
