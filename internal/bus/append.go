package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Append writes events and returns once all of them are acknowledged by every
// replica. Events of one key are appended in the order given; of two concurrent
// calls either may come first.
//
// An event over the size limits, or one that does not pass the check of the
// settings, is refused before anything is sent: the others are appended and the
// error is a *RejectedError. Any other error means that some events are not, or
// may not be, in the log: ErrUnavailable, ErrLogin,
// ErrNoTopic, ErrClosed, ErrBackpressure, together with ErrUnknownOutcome when a
// request was sent and not answered. Appending the same events again is safe.
func (c *Client) Append(ctx context.Context, events ...event.Event) error {
	started := time.Now()
	work, rejected, err := c.prepare(ctx, events)
	if err != nil {
		return err
	}
	if err := c.submit(ctx, work); err != nil {
		return err
	}
	c.stats.appendTime.Since(started)
	if tap := c.tap.Load(); tap != nil {
		(*tap)(accepted(events, rejected))
	}
	if len(rejected) > 0 {
		return &RejectedError{Rejected: rejected}
	}
	return nil
}

// accepted are the events that were not rejected.
func accepted(events []event.Event, rejected []Rejection) []event.Event {
	if len(rejected) == 0 {
		return events
	}
	out := make([]event.Event, 0, len(events))
	for i, ev := range events {
		if len(rejected) > 0 && rejected[0].Index == i {
			rejected = rejected[1:]
			continue
		}
		out = append(out, ev)
	}
	return out
}

// prepare encodes the events and sorts their records by partition, in order.
func (c *Client) prepare(ctx context.Context, events []event.Event) (map[lanePos]*piece, []Rejection, error) {
	work := map[lanePos]*piece{}
	var rejected []Rejection
	for i, ev := range events {
		info, err := c.topic(ctx, ev.Topic)
		if err != nil {
			return nil, nil, err
		}
		records, err := c.encode(ev, info)
		if err != nil {
			rejected = append(rejected, Rejection{Index: i, ID: ev.ID.String(), Err: err})
			continue
		}
		pos := lanePos{ev.Topic, partition(records[0].Key, info.partitions)}
		p := work[pos]
		if p == nil {
			p = &piece{limit: min(c.cfg.BatchBytes, info.maxBytes)}
			work[pos] = p
		}
		p.add(records)
	}
	return work, rejected, nil
}

// encode checks an event and makes its records, each small enough to be a batch of its own.
func (c *Client) encode(ev event.Event, info topicInfo) ([]event.Record, error) {
	if err := c.set.Check(ev); err != nil {
		return nil, err
	}
	limit := min(topics.MaxRecordBytes, info.maxBytes-info.maxBytes/16)
	records, err := event.Encode(ev, limit, uuid.New())
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if size := batchOverhead + recordSize(r); size > info.maxBytes {
			return nil, &event.TooLargeError{Topic: ev.Topic, Key: ev.Key, Type: ev.Type, Actual: size, Allowed: info.maxBytes}
		}
	}
	return records, nil
}

// partition is where Kafka's Java clients put the key, so that their producers
// and ours agree.
func partition(key []byte, partitions []int) int {
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, partitions...)
}

// submit hands the pieces to their lanes and waits for all of them.
func (c *Client) submit(ctx context.Context, work map[lanePos]*piece) error {
	var bytes int64
	for _, p := range work {
		bytes += int64(p.bytes)
	}
	bytes = min(bytes, c.cfg.InFlightBytes)
	if bytes == 0 {
		return nil
	}
	if err := c.room.Acquire(ctx, bytes); err != nil {
		return fmt.Errorf("append %d bytes: %w: %w", bytes, ErrBackpressure, err)
	}
	cl := &call{ctx: ctx, left: len(work), done: make(chan struct{}), release: func() { c.room.Release(bytes) }}
	for pos, p := range work {
		p.call = cl
		c.enqueue(pos, p)
	}
	select {
	case <-cl.done:
		return cl.result()
	case <-ctx.Done():
		return fmt.Errorf("append: %w: %w", ErrUnknownOutcome, ctx.Err())
	}
}

// call is one Append that waits for its pieces.
type call struct {
	ctx     context.Context //nolint:containedctx // the lane asks whether the caller still waits
	release func()
	done    chan struct{}

	mu   sync.Mutex // guards the following
	left int
	errs []error
}

func (c *call) finish(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
	}
	if c.left--; c.left == 0 {
		c.release()
		close(c.done)
	}
}

func (c *call) result() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}
