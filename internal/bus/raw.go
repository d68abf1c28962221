package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/event"
)

// ReadRecords is Read for records as they lie in the log, whether or not they make events.
func (c *Client) ReadRecords(
	ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Record) error,
) error {
	info, err := c.topic(ctx, topic)
	if err != nil {
		return err
	}
	if to == nil {
		if to, err = c.HighWatermarks(ctx, topic); err != nil {
			return err
		}
	}
	first, err := c.FirstOffsets(ctx, topic)
	if err != nil {
		return err
	}
	for _, i := range info.partitions {
		p := int32(i)
		start := max(from[p], first[p])
		if start >= to[p] {
			continue
		}
		if err := c.readPartition(ctx, c.cursor(topic, p, start), to[p], fn); err != nil {
			return err
		}
	}
	return nil
}

// readPartition passes on the records of a partition below to, while the next ones are fetched.
func (c *Client) readPartition(ctx context.Context, cu *cursor, to int64, fn func(event.Record) error) error {
	ctx, cancel := context.WithCancel(ctx)
	ahead := make(chan fetched, readAhead)
	var (
		wg     sync.WaitGroup
		failed error // valid once ahead is closed
	)
	wg.Go(func() {
		defer close(ahead)
		failed = c.pump(ctx, cu, to, ahead)
	})
	defer wg.Wait()
	defer cancel()
	for f := range ahead {
		for _, r := range f.records {
			if r.Offset >= to {
				break
			}
			if err := fn(r); err != nil {
				return err
			}
		}
	}
	return failed
}

// AppendRecords appends records as they are, headers and all, and returns once all are acknowledged. Each goes to the
// partition of its key. Errors are those of Append.
func (c *Client) AppendRecords(ctx context.Context, records ...event.Record) error {
	work := map[lanePos]*piece{}
	for _, r := range records {
		info, err := c.topic(ctx, r.Topic)
		if err != nil {
			return err
		}
		if size := batchOverhead + recordSize(r); size > info.maxBytes {
			return &event.TooLargeError{Topic: r.Topic, Key: string(r.Key), Type: "record", Actual: size, Allowed: info.maxBytes}
		}
		pos := lanePos{r.Topic, partition(r.Key, info.partitions)}
		p := work[pos]
		if p == nil {
			p = &piece{limit: min(c.cfg.BatchBytes, info.maxBytes)}
			work[pos] = p
		}
		p.add([]event.Record{r})
	}
	return c.submit(ctx, work)
}

// CommittedOffsets are the offsets that a group has committed for a topic; a partition without one is left out, so that a
// group that never was has none.
func (c *Client) CommittedOffsets(ctx context.Context, group, topic string) (map[int32]int64, error) {
	info, err := c.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	out := map[int32]int64{}
	err = c.retry(ctx, "committed offsets of "+group, func(ctx context.Context) error {
		res, err := c.kafka.OffsetFetch(ctx, &kafka.OffsetFetchRequest{
			GroupID: c.onWire(group), Topics: map[string][]int{c.onWire(topic): info.partitions},
		})
		if err != nil {
			return err
		}
		clear(out)
		if errors.Is(res.Error, kafka.GroupIdNotFound) {
			return nil
		}
		if res.Error != nil {
			return res.Error
		}
		for _, p := range res.Topics[c.onWire(topic)] {
			if errors.Is(p.Error, kafka.GroupIdNotFound) {
				continue
			}
			if p.Error != nil {
				return fmt.Errorf("partition %d: %w", p.Partition, p.Error)
			}
			if p.CommittedOffset >= 0 {
				out[int32(p.Partition)] = p.CommittedOffset
			}
		}
		return nil
	})
	return out, err
}

// PartitionOf is the partition that records of a key are appended to.
func (c *Client) PartitionOf(ctx context.Context, topic string, key []byte) (int32, error) {
	info, err := c.topic(ctx, topic)
	if err != nil {
		return 0, err
	}
	return int32(partition(key, info.partitions)), nil
}
