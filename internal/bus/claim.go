package bus

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/event"
)

// Claim is the right to process one partition number of a group's topics, for
// one generation. Only the goroutine that calls the Processor may use it.
type Claim struct {
	Group      string
	Generation int32 // grows with every rebalance: a sink fences writers by it
	Partition  int32

	commit func(map[string]map[int]int64) error
	topics map[string]*progress
	ending <-chan struct{}
}

// Ending is closed when the partition is about to be taken away or Consume was asked to stop. A Processor that only waits for
// others, or has work that it has not begun, may then declare what is durable and return ErrHandedBack, instead of holding up
// the group until its time is over.
func (cl *Claim) Ending() <-chan struct{} { return cl.ending }

// progress is where a claim stands in one topic. Offsets are of the next record.
type progress struct {
	start     int64 // where reading begins; kafka.FirstOffset for the first
	committed int64 // what the group has; -1 for nothing
	delivered int64 // what the Processor was given; -1 for nothing
	marked    int64 // what the Processor declared durable; -1 for nothing
	asm       event.Assembler
	spans     []span // large events delivered and not yet committed
}

// span is the records of one large event.
type span struct{ first, last int64 }

func newClaim(c *Client, group string, gen *kafka.Generation, partition int32) *Claim {
	return &Claim{
		Group: group, Generation: gen.ID, Partition: partition,
		commit: func(offsets map[string]map[int]int64) error { return gen.CommitOffsets(c.offsetsOnWire(offsets)) }, topics: map[string]*progress{},
	}
}

func (cl *Claim) add(topic string, offset int64, start Positions) {
	p := &progress{start: offset, committed: offset, delivered: -1, marked: -1}
	if offset < 0 {
		p.start, p.committed = kafka.FirstOffset, -1
		if at, ok := start[topic][cl.Partition]; ok {
			p.start = at
		}
	}
	cl.topics[topic] = p
}

// Topics are the topics of the claim, sorted.
func (cl *Claim) Topics() []string { return slices.Sorted(maps.Keys(cl.topics)) }

// Committed is the group's committed offset of a topic, if there is one.
func (cl *Claim) Committed(topic string) (offset int64, ok bool) {
	p := cl.topics[topic]
	if p == nil || p.committed < 0 {
		return 0, false
	}
	return p.committed, true
}

// StartAt makes reading a topic begin at offset instead of the committed one: a
// sink that keeps its own offsets knows better. Only Handler.Assigned may call it.
func (cl *Claim) StartAt(topic string, offset int64) error {
	p := cl.topics[topic]
	if p == nil || p.delivered >= 0 || offset < 0 {
		return fmt.Errorf("%w: start of %s/%d at %d", ErrCommit, topic, cl.Partition, offset)
	}
	p.start = offset
	return nil
}

// goBack follows a log that ends before the position: what is committed after
// its end is taken back, since the next records will have those offsets.
func (cl *Claim) goBack(topic string, end int64) error {
	p := cl.topics[topic]
	p.start = end
	if p.committed <= end {
		return nil
	}
	return cl.send(map[string]map[int]int64{topic: {int(cl.Partition): end}})
}

// Commit declares every event of a topic whose last record lies below next to
// be durable. The offset is committed after the Processor's call returns; while
// a large event is incomplete, only up to its first record. next must not pass
// what was delivered; one below an earlier one changes nothing.
func (cl *Claim) Commit(topic string, next int64) error {
	p := cl.topics[topic]
	if p == nil || next > p.delivered {
		return fmt.Errorf("%w: %s/%d at %d", ErrCommit, topic, cl.Partition, next)
	}
	p.marked = max(p.marked, next)
	return nil
}

// deliver notes a batch that goes to the Processor.
func (p *progress) deliver(b Batch) {
	for _, ev := range b.Events {
		if ev.LastOffset != ev.Offset {
			p.spans = append(p.spans, span{ev.Offset, ev.LastOffset})
		}
	}
	p.delivered = b.Next
}

// safe is how far may be committed: not past the first record of an event that
// ends at or after the mark, be it delivered or still incomplete.
func (p *progress) safe() int64 {
	at := p.marked
	kept := p.spans[:0]
	for _, s := range p.spans {
		if s.last < p.marked {
			continue
		}
		kept = append(kept, s)
		at = min(at, s.first)
	}
	p.spans = kept
	if open, ok := p.asm.OldestOpen(); ok {
		at = min(at, open)
	}
	return at
}

// flush commits what has become safe.
func (cl *Claim) flush() error {
	offsets := map[string]map[int]int64{}
	for topic, p := range cl.topics {
		if at := p.safe(); at > p.committed && at >= 0 {
			offsets[topic] = map[int]int64{int(cl.Partition): at}
		}
	}
	return cl.send(offsets)
}

// committedSum changes with every commit.
func (cl *Claim) committedSum() int64 {
	var sum int64
	for _, p := range cl.topics {
		sum += p.committed
	}
	return sum
}

// probe commits again what is committed: it succeeds as long as the group
// regards this process as a member.
func (cl *Claim) probe() error {
	offsets := map[string]map[int]int64{}
	for topic, p := range cl.topics {
		if p.committed >= 0 {
			offsets[topic] = map[int]int64{int(cl.Partition): p.committed}
		}
	}
	return cl.send(offsets)
}

func (cl *Claim) send(offsets map[string]map[int]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	if err := cl.commit(offsets); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for topic, parts := range offsets {
		cl.topics[topic].committed = parts[int(cl.Partition)]
	}
	return nil
}

// anchor gives every topic a committed offset from the beginning: where the
// reading starts. Without it a later change of the start rule would move
// partitions that had no record yet.
func (cl *Claim) anchor(ctx context.Context, c *Client) error {
	offsets := map[string]map[int]int64{}
	for topic, p := range cl.topics {
		if p.start == kafka.FirstOffset {
			first, err := c.FirstOffsets(ctx, topic)
			if err != nil {
				return err
			}
			p.start = first[cl.Partition]
		}
		if p.committed < 0 {
			offsets[topic] = map[int]int64{int(cl.Partition): p.start}
		}
	}
	return cl.send(offsets)
}
