package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/event"
)

// Positions are offsets by topic and partition.
type Positions map[string]map[int32]int64

// HighWatermarks returns, for every partition of a topic, the offset that the
// next record will get.
func (c *Client) HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error) {
	return c.offsets(ctx, topic, kafka.LastOffsetOf, func(p kafka.PartitionOffsets) int64 { return p.LastOffset })
}

// FirstOffsets returns the offset of the oldest record of every partition.
func (c *Client) FirstOffsets(ctx context.Context, topic string) (map[int32]int64, error) {
	return c.offsets(ctx, topic, kafka.FirstOffsetOf, func(p kafka.PartitionOffsets) int64 { return p.FirstOffset })
}

func (c *Client) offsets(
	ctx context.Context, topic string, ask func(int) kafka.OffsetRequest, get func(kafka.PartitionOffsets) int64,
) (map[int32]int64, error) {
	info, err := c.topic(ctx, topic)
	if err != nil {
		return nil, err
	}
	reqs := make([]kafka.OffsetRequest, len(info.partitions))
	for i, p := range info.partitions {
		reqs[i] = ask(p)
	}
	var out map[int32]int64
	err = c.retry(ctx, "list offsets of "+topic, func(ctx context.Context) error {
		res, err := c.kafka.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{c.onWire(topic): reqs}})
		if err != nil {
			return err
		}
		out = map[int32]int64{}
		for _, p := range res.Topics[c.onWire(topic)] {
			if p.Error != nil {
				return p.Error
			}
			out[int32(p.Partition)] = get(p)
		}
		if len(out) != len(reqs) {
			return fmt.Errorf("offsets of %d of %d partitions: %w", len(out), len(reqs), kafka.LeaderNotAvailable)
		}
		return nil
	})
	return out, err
}

// bounds are the offset of the oldest record of a partition and the one that
// the next record will get.
func (c *Client) bounds(ctx context.Context, topic string, partition int32) (first, end int64, err error) {
	p := int(partition)
	res, err := c.kafka.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{c.onWire(topic): {kafka.FirstOffsetOf(p), kafka.LastOffsetOf(p)}},
	})
	if err != nil {
		return 0, 0, err
	}
	for _, of := range res.Topics[c.onWire(topic)] {
		if of.Partition == p {
			return of.FirstOffset, of.LastOffset, of.Error
		}
	}
	return 0, 0, kafka.LeaderNotAvailable
}

// Read calls fn with the events of a topic whose records lie in [from, to), one
// partition after the other, each in offset order. A partition missing in from
// begins at its first offset; nil to means the high watermarks of now, and a
// partition missing in a given to is not read. A from after the end of the log
// reads nothing of its partition. Records that are no event are
// counted, logged and skipped; a large event whose last record lies at or after
// to is left out. An error of fn ends the scan and is returned as it is.
func (c *Client) Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error {
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
	var scans []*scan
	for _, i := range info.partitions {
		p := int32(i)
		start, ok := from[p]
		if !ok {
			start = first[p]
		}
		if start < to[p] {
			scans = append(scans, &scan{cursor: c.cursor(topic, p, start), to: to[p], ahead: make(chan fetched, readAhead)})
		}
	}
	return c.scanAll(ctx, scans, fn)
}

// readAhead is how many fetches of a partition wait for Read's function.
const readAhead = 4

// scan is a bounded read of one partition.
type scan struct {
	cursor *cursor
	to     int64
	ahead  chan fetched
	err    error // valid once ahead is closed
}

// scanAll passes on one scan after the other. While one is passed on the next
// one is fetched already.
func (c *Client) scanAll(ctx context.Context, scans []*scan, fn func(event.Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	begin := func(i int) {
		if i < len(scans) {
			s := scans[i]
			wg.Go(func() {
				defer close(s.ahead)
				s.err = c.pump(ctx, s.cursor, s.to, s.ahead)
			})
		}
	}
	begin(0)
	for i, s := range scans {
		begin(i + 1)
		asm := c.assembler(s.cursor.topic)
		for f := range s.ahead {
			if err := c.each(&asm, f.records, s.to, fn); err != nil {
				return err
			}
		}
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// pump fetches until the position reaches to.
func (c *Client) pump(ctx context.Context, cu *cursor, to int64, out chan<- fetched) error {
	begun := false
	for cu.offset < to {
		f, err := cu.next(ctx)
		if err != nil {
			return err
		}
		if f.back {
			if begun {
				return fmt.Errorf("read %s/%d: the log lost records while it was read: %w", cu.topic, cu.partition, ErrOutOfRange)
			}
			return nil
		}
		if len(f.records) == 0 {
			continue
		}
		begun = true
		select {
		case out <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// each assembles records below to and passes on the events.
func (c *Client) each(asm *event.Assembler, records []event.Record, to int64, fn func(event.Event) error) error {
	for _, r := range records {
		if to >= 0 && r.Offset >= to {
			return nil
		}
		ev, lost := asm.Add(r)
		for _, l := range lost {
			c.countLost(l)
		}
		if ev == nil {
			continue
		}
		if err := fn(*ev); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) countLost(l event.Lost) {
	c.stats.lost.Add(1)
	c.log.Warn("kafka record is no event",
		"topic", l.Record.Topic, "partition", l.Record.Partition, "offset", l.Record.Offset, "reason", l.Err)
}

// Follow calls fn, from one goroutine, with the events of topics as they come,
// each partition in offset order, until ctx ends or fn fails; it returns that
// error. Partitions missing in from begin at their first offset. It belongs to
// no group: every caller sees everything. Records that are no event are
// counted, logged and skipped. A position after the end of the log goes back to
// the end.
func (c *Client) Follow(ctx context.Context, topics []string, from Positions, fn func(event.Event) error) error {
	cursors, err := c.cursors(ctx, topics, from)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	in := make(chan fetched)
	var wg sync.WaitGroup
	for _, cu := range cursors {
		wg.Go(func() { cancel(c.stream(ctx, cu, in)) })
	}
	defer wg.Wait()
	defer cancel(nil)
	assemblers := map[lanePos]*event.Assembler{}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case f := <-in:
			pos := lanePos{f.topic, int(f.partition)}
			asm := assemblers[pos]
			if asm == nil {
				fresh := c.assembler(f.topic)
				asm = &fresh
				assemblers[pos] = asm
			}
			if f.back {
				forgetAfter(asm, f.next)
			}
			if err := c.each(asm, f.records, -1, fn); err != nil {
				return err
			}
		}
	}
}

// cursors opens every partition of the topics.
func (c *Client) cursors(ctx context.Context, topics []string, from Positions) ([]*cursor, error) {
	if len(topics) == 0 {
		return nil, errors.New("kafka: no topics given")
	}
	var out []*cursor
	for _, t := range topics {
		first, err := c.FirstOffsets(ctx, t)
		if err != nil {
			return nil, err
		}
		for p, offset := range first {
			if at, ok := from[t][p]; ok {
				offset = at
			}
			out = append(out, c.cursor(t, p, offset))
		}
	}
	return out, nil
}

// forgetAfter drops what an assembler holds where the log lost it.
func forgetAfter(asm *event.Assembler, end int64) {
	if open, ok := asm.OldestOpen(); ok && open >= end {
		*asm = event.Assembler{Check: asm.Check}
	}
}

// stream sends what a partition yields until ctx ends or the partition fails.
func (c *Client) stream(ctx context.Context, cu *cursor, out chan<- fetched) error {
	for {
		f, err := cu.next(ctx)
		if err != nil {
			return err
		}
		if len(f.records) == 0 && !f.back {
			continue
		}
		select {
		case out <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
