package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/seed256f7767/spade/schemas/event"
)

// fetched is what one request returned.
type fetched struct {
	records []event.Record
	next    int64 // offset after the last record
	end     int64 // high watermark
}

// fetch asks for records of a partition from an offset on. The broker holds the
// request for up to wait when there is nothing; the result may be empty then.
func (c *Client) fetch(ctx context.Context, topic string, partition int32, offset int64, wait time.Duration) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+c.cfg.RequestTimeout)
	defer cancel()
	res, err := c.kafka.Fetch(ctx, &kafka.FetchRequest{
		Topic: topic, Partition: int(partition), Offset: offset,
		MinBytes: 1, MaxBytes: int64(c.cfg.FetchBytes), MaxWait: wait,
	})
	if err != nil {
		return fetched{}, err
	}
	f := fetched{next: offset, end: res.HighWatermark}
	if err := f.read(res.Records, topic, partition); err != nil {
		return fetched{}, err
	}
	if res.Error != nil {
		return fetched{}, res.Error
	}
	c.stats.fetched.Add(int64(len(f.records)))
	return f, nil
}

// read copies the records out of kafka-go's pooled pages. Those before the
// offset that was asked for belong to a batch that begins earlier; those of a
// control batch only move the position.
func (f *fetched) read(set kafka.RecordReader, topic string, partition int32) error {
	stream, ok := set.(*protocol.RecordStream)
	if !ok {
		stream = &protocol.RecordStream{Records: []protocol.RecordReader{set}}
	}
	for _, batch := range stream.Records {
		_, control := batch.(*protocol.ControlBatch)
		for {
			rec, err := batch.ReadRecord()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("read record after offset %d: %w", f.next, err)
			}
			if err := f.take(rec, topic, partition, control); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fetched) take(rec *protocol.Record, topic string, partition int32, control bool) error {
	key, value, err := copyOut(rec)
	if err != nil {
		return fmt.Errorf("read record at offset %d: %w", rec.Offset, err)
	}
	if rec.Offset < f.next {
		return nil
	}
	f.next = rec.Offset + 1
	if control {
		return nil
	}
	headers := make([]event.Header, len(rec.Headers))
	for i, h := range rec.Headers {
		headers[i] = event.Header(h)
	}
	f.records = append(f.records, event.Record{
		Topic: topic, Partition: partition, Offset: rec.Offset, Time: rec.Time.UTC(),
		Key: key, Value: value, Headers: headers,
	})
	return nil
}

// copyOut reads key and value into one allocation and frees kafka-go's pages.
func copyOut(rec *protocol.Record) (key, value []byte, err error) {
	var k, v int
	if rec.Key != nil {
		k = rec.Key.Len()
	}
	if rec.Value != nil {
		v = rec.Value.Len()
	}
	both := make([]byte, k+v)
	if rec.Key != nil {
		key = both[:k:k]
		_, err = io.ReadFull(rec.Key, key)
		err = errors.Join(err, rec.Key.Close())
	}
	if rec.Value != nil {
		value = both[k:]
		_, readErr := io.ReadFull(rec.Value, value)
		err = errors.Join(err, readErr, rec.Value.Close())
	}
	return key, value, err
}

// cursor reads one partition onwards and survives what passes: brokers that are
// down, leaders that move, requests that hang.
type cursor struct {
	c         *Client
	topic     string
	partition int32
	offset    int64
	wait      time.Duration
	progress  time.Time // when records last came, or there were none to come
}

func (c *Client) cursor(topic string, partition int32, offset int64) *cursor {
	return &cursor{c: c, topic: topic, partition: partition, offset: offset, wait: c.cfg.FetchWait, progress: time.Now()}
}

// next returns the next records, or none when the broker held the request for
// the whole wait. Errors are final.
func (cu *cursor) next(ctx context.Context) (fetched, error) {
	for wait := newBackoff(); ; {
		f, err := cu.c.fetch(ctx, cu.topic, cu.partition, cu.offset, cu.wait)
		switch {
		case err == nil:
			cu.watch(f)
			cu.offset = f.next
			return f, nil
		case ctx.Err() != nil:
			return fetched{}, ctx.Err()
		case cu.c.ctx.Err() != nil:
			return fetched{}, fmt.Errorf("read %s/%d: %w", cu.topic, cu.partition, ErrClosed)
		case !transient(err):
			return fetched{}, classify(fmt.Sprintf("read %s/%d at offset %d", cu.topic, cu.partition, cu.offset), err)
		}
		cu.c.stats.retries.Add(1)
		cu.c.resetLayout()
		cu.watch(fetched{next: cu.offset, end: cu.offset + 1})
		wait.sleep(ctx, cu.c.ctx)
	}
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
