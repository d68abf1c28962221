package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/seed256f7767/spade/internal/bus/fetchwire"
	"github.com/seed256f7767/spade/schemas/event"
)

// fetched is what one request returned.
type fetched struct {
	topic     string
	partition int32
	records   []event.Record
	// back says that the log ends before the position: there are no records, and
	// next is the log's end.
	back  bool
	next  int64 // offset after the last record
	end   int64 // high watermark
	bytes int   // of keys and values
	slabs slabs
}

// slabs cut many small slices out of few allocations. A record keeps its slab
// in memory; consumers keep what they decode, not the records.
type slabs struct {
	bytes   []byte
	headers []event.Header
}

const (
	slabBytes   = 64 << 10
	slabHeaders = 512
)

func (s *slabs) take(n int) []byte {
	if len(s.bytes) < n {
		s.bytes = make([]byte, max(slabBytes, n))
	}
	out := s.bytes[:n:n]
	s.bytes = s.bytes[n:]
	return out
}

// copy keeps what is only lent; nil stays nil.
func (s *slabs) copy(b []byte) []byte {
	if b == nil {
		return nil
	}
	out := s.take(len(b))
	copy(out, b)
	return out
}

func (s *slabs) copyHeaders(from []fetchwire.Header) []event.Header {
	n := len(from)
	if len(s.headers) < n {
		s.headers = make([]event.Header, max(slabHeaders, n))
	}
	out := s.headers[:n:n]
	s.headers = s.headers[n:]
	for i, h := range from {
		out[i] = event.Header{Key: event.HeaderName(h.Key), Value: s.copy(h.Value)}
	}
	return out
}

// fetch asks for records of a partition from an offset on. The broker holds the
// request for up to wait when there is nothing; the result may be empty then.
func (c *Client) fetch(
	ctx context.Context, topic string, partition int32, offset int64, wait time.Duration, hint int,
) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+c.cfg.RequestTimeout)
	defer cancel()
	p, err := c.fetchPartition(ctx, fetchwire.New(c.onWire(topic), partition, offset, int32(wait.Milliseconds()), int32(c.cfg.FetchBytes)))
	if err != nil {
		return fetched{}, err
	}
	defer p.Batches.Release()
	f := fetched{topic: topic, partition: partition, next: offset, end: p.HighWatermark, records: make([]event.Record, 0, hint)}
	if err := f.read(&p.Batches); err != nil {
		return fetched{}, err
	}
	c.stats.fetched.Add(int64(len(f.records)))
	c.stats.fetchedBytes.Add(int64(f.bytes))
	return f, nil
}

// fetchPartition sends a request for one partition.
func (c *Client) fetchPartition(ctx context.Context, req *fetchwire.Request) (*fetchwire.ResponsePartition, error) {
	msg, err := c.transport.RoundTrip(ctx, c.kafka.Addr, req)
	if err != nil {
		return nil, err
	}
	res, ok := msg.(*fetchwire.Response)
	switch {
	case !ok:
		return nil, fmt.Errorf("fetch: the broker answered with %T", msg)
	case res.ErrorCode != 0:
		return nil, kafka.Error(res.ErrorCode)
	case len(res.Topics) == 0 || len(res.Topics[0].Partitions) == 0:
		return nil, fmt.Errorf("fetch: %w", protocol.ErrNoPartition)
	}
	p := &res.Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return nil, kafka.Error(p.ErrorCode)
	}
	return p, nil
}

// read copies the records out of the answer. Those before the offset that was
// asked for belong to a batch that begins earlier. What cannot be read is an
// error once everything before it has been passed on.
func (f *fetched) read(batches *fetchwire.Batches) error {
	next, err := batches.Each(f.take)
	if err != nil && len(f.records) == 0 {
		return fmt.Errorf("read records from offset %d: %w", f.next, err)
	}
	f.next = max(f.next, next)
	return nil
}

func (f *fetched) take(rec *fetchwire.Record) error {
	if rec.Offset < f.next {
		return nil
	}
	f.next = rec.Offset + 1
	f.bytes += len(rec.Key) + len(rec.Value)
	f.records = append(f.records, event.Record{
		Topic: f.topic, Partition: f.partition, Offset: rec.Offset, Time: rec.Time,
		Key: f.slabs.copy(rec.Key), Value: f.slabs.copy(rec.Value), Headers: f.slabs.copyHeaders(rec.Headers),
	})
	return nil
}

// cursor reads one partition onwards and survives what passes: brokers that are
// down, leaders that move, requests that hang.
type cursor struct {
	c         *Client
	topic     string
	partition int32
	offset    int64
	wait      time.Duration
	hint      int       // records that came last time
	progress  time.Time // when records last came, or there were none to come
}

func (c *Client) cursor(topic string, partition int32, offset int64) *cursor {
	return &cursor{c: c, topic: topic, partition: partition, offset: offset, wait: c.cfg.FetchWait, progress: time.Now()}
}

// next returns the next records, or none when the broker held the request for
// the whole wait. A position after the log's end goes back to it, and what is
// returned says so: a machine that lost its power has lost records that were
// read before. Errors are final.
func (cu *cursor) next(ctx context.Context) (fetched, error) {
	for wait := newBackoff(); ; {
		f, err := cu.c.fetch(ctx, cu.topic, cu.partition, cu.offset, cu.wait, cu.hint)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			f, err = cu.goBack(ctx, err)
		}
		switch {
		case err == nil:
			cu.watch(f)
			cu.offset, cu.hint = f.next, len(f.records)
			return f, nil
		case ctx.Err() != nil:
			return fetched{}, ctx.Err()
		case cu.c.ctx.Err() != nil:
			return fetched{}, fmt.Errorf("read %s/%d: %w", cu.topic, cu.partition, ErrClosed)
		case cu.c.untrusted(err) != nil:
			return fetched{}, fmt.Errorf("read %s/%d: %w", cu.topic, cu.partition, cu.c.untrusted(err))
		case !transient(err):
			return fetched{}, classify(fmt.Sprintf("read %s/%d at offset %d", cu.topic, cu.partition, cu.offset), err)
		}
		cu.c.stats.retries.Add(1)
		cu.c.resetLayout()
		cu.watch(fetched{next: cu.offset, end: cu.offset + 1})
		wait.sleep(ctx, cu.c.ctx)
	}
}

// goBack finds the log's end where the position is after it. A position before
// the log's beginning stays the error that it is.
func (cu *cursor) goBack(ctx context.Context, cause error) (fetched, error) {
	var first, end int64
	err := cu.c.once(ctx, func(ctx context.Context) (err error) {
		first, end, err = cu.c.bounds(ctx, cu.topic, cu.partition)
		return err
	})
	switch {
	case err != nil:
		return fetched{}, err
	case cu.offset < first:
		return fetched{}, cause
	case cu.offset <= end: // the broker had not caught up when it was asked
		return fetched{}, kafka.LeaderNotAvailable
	}
	cu.c.log.Warn("kafka log ends before the position that was reached: going back to its end",
		"topic", cu.topic, "partition", cu.partition, "position", cu.offset, "end", end)
	return fetched{topic: cu.topic, partition: cu.partition, back: true, next: end, end: end}, nil
}

// watch notices a partition that has records and yields none. Fetch requests
// have deadlines, so it is a broker that answers with nothing; a new picture of
// the cluster is what can help.
func (cu *cursor) watch(f fetched) {
	if len(f.records) > 0 || f.next >= f.end {
		cu.progress = time.Now()
		return
	}
	if time.Since(cu.progress) < cu.c.cfg.StallTimeout {
		return
	}
	cu.progress = time.Now()
	cu.c.stats.stalls.Add(1)
	cu.c.log.Warn("kafka partition stalled", "topic", cu.topic, "partition", cu.partition, "offset", f.next, "end", f.end)
	cu.c.resetLayout()
}
