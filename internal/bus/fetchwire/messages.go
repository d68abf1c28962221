package fetchwire

import (
	"fmt"

	"github.com/segmentio/kafka-go/protocol"
	_ "github.com/segmentio/kafka-go/protocol/fetch" // registers first what is replaced here
)

func init() { protocol.Register(&Request{}, &Response{}) }

// Request asks for records of one partition or more, which must have the same leader.
type Request struct {
	ReplicaID       int32              `kafka:"min=v0,max=v11"`
	MaxWaitTime     int32              `kafka:"min=v0,max=v11"` // ms
	MinBytes        int32              `kafka:"min=v0,max=v11"`
	MaxBytes        int32              `kafka:"min=v3,max=v11"`
	IsolationLevel  int8               `kafka:"min=v4,max=v11"`
	SessionID       int32              `kafka:"min=v7,max=v11"`
	SessionEpoch    int32              `kafka:"min=v7,max=v11"`
	Topics          []RequestTopic     `kafka:"min=v0,max=v11"`
	ForgottenTopics []RequestForgotten `kafka:"min=v7,max=v11"`
	RackID          string             `kafka:"min=v11,max=v11"`
}

// RequestTopic is a topic of a Request.
type RequestTopic struct {
	Topic      string             `kafka:"min=v0,max=v11"`
	Partitions []RequestPartition `kafka:"min=v0,max=v11"`
}

// RequestPartition is a partition of a Request.
type RequestPartition struct {
	Partition          int32 `kafka:"min=v0,max=v11"`
	CurrentLeaderEpoch int32 `kafka:"min=v9,max=v11"`
	FetchOffset        int64 `kafka:"min=v0,max=v11"`
	LogStartOffset     int64 `kafka:"min=v5,max=v11"`
	PartitionMaxBytes  int32 `kafka:"min=v0,max=v11"`
}

// RequestForgotten is a topic that a fetch session no longer reads.
type RequestForgotten struct {
	Topic      string  `kafka:"min=v7,max=v11"`
	Partitions []int32 `kafka:"min=v7,max=v11"`
}

// Response answers a Request.
type Response struct {
	ThrottleTimeMs int32           `kafka:"min=v1,max=v11"`
	ErrorCode      int16           `kafka:"min=v7,max=v11"`
	SessionID      int32           `kafka:"min=v7,max=v11"`
	Topics         []ResponseTopic `kafka:"min=v0,max=v11"`
}

// ResponseTopic is a topic of a Response.
type ResponseTopic struct {
	Topic      string              `kafka:"min=v0,max=v11"`
	Partitions []ResponsePartition `kafka:"min=v0,max=v11"`
}

// ResponsePartition is what a partition holds from the offset that was asked for.
type ResponsePartition struct {
	Partition            int32                 `kafka:"min=v0,max=v11"`
	ErrorCode            int16                 `kafka:"min=v0,max=v11"`
	HighWatermark        int64                 `kafka:"min=v0,max=v11"`
	LastStableOffset     int64                 `kafka:"min=v4,max=v11"`
	LogStartOffset       int64                 `kafka:"min=v5,max=v11"`
	AbortedTransactions  []ResponseTransaction `kafka:"min=v4,max=v11"`
	PreferredReadReplica int32                 `kafka:"min=v11,max=v11"`
	Batches              Batches               `kafka:"min=v0,max=v11"`
}

// ResponseTransaction is a transaction that was aborted.
type ResponseTransaction struct {
	ProducerID  int64 `kafka:"min=v4,max=v11"`
	FirstOffset int64 `kafka:"min=v4,max=v11"`
}

// New asks for records of one partition from an offset on: at least a byte, at most about maxBytes, and no later than after waitMS.
func New(topic string, partition int32, offset int64, waitMS, maxBytes int32) *Request {
	return &Request{
		ReplicaID: -1, MaxWaitTime: waitMS, MinBytes: 1, MaxBytes: maxBytes, SessionID: -1, SessionEpoch: -1,
		Topics: []RequestTopic{{Topic: topic, Partitions: []RequestPartition{{
			Partition: partition, CurrentLeaderEpoch: -1, FetchOffset: offset, LogStartOffset: -1, PartitionMaxBytes: maxBytes,
		}}}},
	}
}

// ApiKey implements protocol.Message.
func (r *Request) ApiKey() protocol.ApiKey { return protocol.Fetch }

// ApiKey implements protocol.Message.
func (r *Response) ApiKey() protocol.ApiKey { return protocol.Fetch }

var _ protocol.BrokerMessage = (*Request)(nil)

// Broker implements protocol.BrokerMessage: the leader of the partitions is asked.
func (r *Request) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	leader := protocol.Broker{ID: -1}
	for _, t := range r.Topics {
		topic, ok := cluster.Topics[t.Topic]
		if !ok {
			return leader, fmt.Errorf("fetch: %w", protocol.NewErrNoTopic(t.Topic))
		}
		for _, p := range t.Partitions {
			b, err := leaderOf(cluster, topic, p.Partition)
			if err != nil {
				return leader, err
			}
			if leader.ID >= 0 && leader.ID != b.ID {
				return leader, fmt.Errorf("fetch: %s/%d is led by another broker than the rest of the request", t.Topic, p.Partition)
			}
			leader = b
		}
	}
	return leader, nil
}

func leaderOf(cluster protocol.Cluster, topic protocol.Topic, partition int32) (protocol.Broker, error) {
	p, ok := topic.Partitions[partition]
	if !ok {
		return protocol.Broker{ID: -1}, fmt.Errorf("fetch: %w", protocol.NewErrNoPartition(topic.Name, partition))
	}
	b, ok := cluster.Brokers[p.Leader]
	if !ok {
		return protocol.Broker{ID: -1}, fmt.Errorf("fetch: %w", protocol.NewErrNoLeader(topic.Name, partition))
	}
	return b, nil
}
