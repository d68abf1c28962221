package bus

import (
	"context"
	"sync"

	"github.com/seed256f7767/spade/schemas/event"
)

// Tail reads one partition in steps, each up to an offset that is named then. A large event that the end of a step cuts is
// whole in the next one. It belongs to no group and is used by one goroutine at a time.
type Tail struct {
	c         *Client
	topic     string
	partition int32
	next      int64
	asm       event.Assembler
}

// Tail makes a reader that begins at an offset. It does no I/O.
func (c *Client) Tail(topic string, partition int32, from int64) *Tail {
	return &Tail{c: c, topic: topic, partition: partition, next: from, asm: c.assembler(topic)}
}

// Next is the offset that the next step begins at.
func (t *Tail) Next() int64 { return t.next }

// ReadTo calls fn with the events whose last record lies before to, in offset order, while the next records are fetched.
// Records that are no event are counted, logged and skipped. An error of fn ends the step and is returned as it is; after an
// error the tail cannot be used any more.
func (t *Tail) ReadTo(ctx context.Context, to int64, fn func(event.Event) error) error {
	if to <= t.next {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var (
		wg   sync.WaitGroup
		err  error
		scan = scan{cursor: t.c.cursor(t.topic, t.partition, t.next), to: to, ahead: make(chan fetched, readAhead)}
	)
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(scan.ahead)
		scan.err = t.c.pump(ctx, scan.cursor, to, scan.ahead)
	})
	for f := range scan.ahead {
		if err = t.c.each(&t.asm, f.records, to, fn); err != nil {
			return err
		}
	}
	if scan.err != nil {
		return scan.err
	}
	t.next = to
	return nil
}
