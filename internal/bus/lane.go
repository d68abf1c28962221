package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/event"
)

// lanePos is one partition of one topic.
type lanePos struct {
	topic     string
	partition int
}

// lane writes to one partition, one batch at a time: that is what keeps the
// order of a key when a batch has to be sent again. While a batch is under way
// the next one gathers, so batches grow with the load and a lone event does not
// wait. Client.mu guards the fields.
type lane struct {
	queue   []*piece
	running bool
}

// piece is what one Append has for one partition. The lane that took it off the
// queue is the only one to touch it.
type piece struct {
	call    *call
	records []event.Record
	sizes   []int
	bytes   int
	limit   int // of a batch, in bytes
	next    int // first record that is not in a batch yet
}

func (p *piece) add(records []event.Record) {
	for _, r := range records {
		size := recordSize(r)
		p.records, p.sizes, p.bytes = append(p.records, r), append(p.sizes, size), p.bytes+size
	}
}

func (c *Client) enqueue(pos lanePos, p *piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.call.finish(ErrClosed)
		return
	}
	l := c.lanes[pos]
	if l == nil {
		l = &lane{}
		c.lanes[pos] = l
	}
	l.queue = append(l.queue, p)
	if !l.running {
		l.running = true
		c.wg.Go(func() { c.runLane(pos, l) })
	}
}

// runLane writes batches until the queue is empty.
func (c *Client) runLane(pos lanePos, l *lane) {
	var open []*piece // taken off the queue and not finished, in order
	for {
		c.mu.Lock()
		open = append(open, l.queue...)
		l.queue = nil
		if len(open) == 0 {
			l.running = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		open = c.writeNext(pos, open)
	}
}

// writeNext sends one batch and returns the pieces that are still open.
func (c *Client) writeNext(pos lanePos, open []*piece) []*piece {
	open = dropAbandoned(open)
	b := fill(open)
	if len(b.records) == 0 {
		return open
	}
	err := c.writeBatch(pos, b)
	kept := open[:0]
	for i, p := range open {
		switch {
		case i < b.pieces && err != nil:
			p.call.finish(err)
		case i < b.pieces && p.next == len(p.records):
			p.call.finish(nil)
		default:
			kept = append(kept, p)
		}
	}
	clear(open[len(kept):])
	return kept
}

// dropAbandoned ends the pieces whose caller no longer waits.
func dropAbandoned(open []*piece) []*piece {
	kept := open[:0]
	for _, p := range open {
		if err := p.call.ctx.Err(); err != nil {
			p.call.finish(fmt.Errorf("append: %w: %w", ErrUnknownOutcome, err))
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// batch is the next records of the first pieces.
type batch struct {
	records []event.Record
	bytes   int
	pieces  int // how many pieces have records in it
	callers []context.Context
}

// fill takes records, in order, up to the limit in bytes.
func fill(open []*piece) batch {
	b := batch{bytes: batchOverhead}
	for _, p := range open {
		from := p.next
		for p.next < len(p.records) && (b.bytes+p.sizes[p.next] <= p.limit || b.bytes == batchOverhead) {
			b.bytes += p.sizes[p.next]
			p.next++
		}
		if p.next == from {
			break
		}
		b.pieces++
		b.callers = append(b.callers, p.call.ctx)
		if from == 0 && b.records == nil {
			b.records = p.records[:p.next:p.next]
		} else {
			b.records = append(b.records, p.records[from:p.next]...)
		}
		if p.next < len(p.records) {
			break
		}
	}
	return b
}

// wanted reports whether any caller still waits for the batch.
func (b batch) wanted() bool {
	for _, ctx := range b.callers {
		if ctx.Err() == nil {
			return true
		}
	}
	return false
}

// storeTries is how often a broker that cannot store is asked again: its disk
// may be full for long.
const storeTries = 4

// writeBatch sends a batch until it is acknowledged, refused for good, no longer
// wanted, or out of time.
func (c *Client) writeBatch(pos lanePos, b batch) error {
	op := fmt.Sprintf("append %d records to %s/%d", len(b.records), pos.topic, pos.partition)
	deadline := time.Now().Add(c.cfg.DeliveryTimeout)
	sent := false // a request may have been applied without an answer
	stored, tries := 0, c.login.attempts()
	for wait := newBackoff(); ; {
		err := c.once(c.ctx, func(ctx context.Context) error { return c.produce(ctx, pos, b) })
		if err == nil {
			c.stats.appended.Add(int64(len(b.records)))
			c.stats.appendedBytes.Add(int64(b.bytes))
			return nil
		}
		sent = sent || maybeApplied(err)
		class := tries.class(op, err)
		switch {
		case c.ctx.Err() != nil:
			return outcome(fmt.Errorf("%s: %w", op, ErrClosed), sent)
		case c.untrusted(err) != nil:
			return outcome(fmt.Errorf("%s: %w", op, c.untrusted(err)), sent)
		case errors.Is(err, kafka.Unknown):
			if stored++; stored == storeTries {
				return outcome(fmt.Errorf("%w (is the broker's disk full?)", class), sent)
			}
		case tries.final(), !isLogin(class) && !transient(err):
			return outcome(class, sent)
		}
		if time.Now().After(deadline) || !b.wanted() {
			return outcome(class, sent)
		}
		if staleLayout(err) || network(err) {
			c.resetLayout()
		}
		c.stats.retries.Add(1)
		wait.sleep(c.ctx, c.ctx)
	}
}

func isLogin(err error) bool { return errors.Is(err, ErrLogin) }

// maybeApplied reports whether the broker may have appended although it did not
// say so.
func maybeApplied(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		return code == kafka.RequestTimedOut || code == kafka.NotEnoughReplicasAfterAppend || code == kafka.NetworkException
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return network(err)
}

func outcome(err error, sent bool) error {
	if sent {
		return fmt.Errorf("%w: %w", err, ErrUnknownOutcome)
	}
	return err
}

// produce sends the batch a single time.
func (c *Client) produce(ctx context.Context, pos lanePos, b batch) error {
	res, err := c.kafka.Produce(ctx, &kafka.ProduceRequest{
		Topic: c.onWire(pos.topic), Partition: pos.partition, RequiredAcks: kafka.RequireAll, Compression: c.codec,
		Records: &recordReader{records: b.records},
	})
	if err != nil {
		return err
	}
	return res.Error
}
