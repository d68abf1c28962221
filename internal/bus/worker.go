package bus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/outage"
	"github.com/seed256f7767/spade/schemas/event"
)

// worker processes one claim.
type worker struct {
	c     *Client
	claim *Claim
	proc  Processor
}

func newWorker(c *Client, claim *Claim) *worker { return &worker{c: c, claim: claim} }

// run processes until the generation ends, stop ends, or something fails. An
// errGone ends the generation only, any other error Consume.
func (w *worker) run(stop, gen context.Context, h Handler) error {
	work, cancel := w.workContext(stop, gen)
	defer cancel()
	ending, ended := context.WithCancel(stop)
	defer ended()
	defer context.AfterFunc(gen, ended)()
	w.claim.ending = ending.Done()
	err := w.open(work, h)
	if err == nil {
		err = w.loop(stop, gen, work)
	}
	switch {
	case err == nil:
	case work.Err() != nil:
		err = fmt.Errorf("%w: no time left: %w", errGone, err)
	case errors.Is(err, ErrHandedBack):
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	if w.proc != nil {
		err = w.end(work, err)
	}
	return err
}

// errGone marks errors that mean the generation is over, not that the work is bad.
var errGone = errors.New("kafka: the generation is over")

// workContext is what the Processor works under: it outlives stop by StopTimeout
// and gen by RevokeTimeout, so that a batch under way can be finished and
// committed. Stopping is quicker, because somebody waits for it.
func (w *worker) workContext(stop, gen context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(stop))
	outlive := func(over context.Context, by time.Duration) (stop func() bool) {
		return context.AfterFunc(over, func() {
			t := time.AfterFunc(by, cancel)
			context.AfterFunc(work, func() { t.Stop() })
		})
	}
	stopA, stopB := outlive(stop, w.c.cfg.StopTimeout), outlive(gen, w.c.cfg.RevokeTimeout)
	return work, func() { stopA(); stopB(); cancel() }
}

// open anchors the claim and lets the handler make a Processor.
func (w *worker) open(ctx context.Context, h Handler) error {
	if err := w.claim.anchor(ctx, w.c); err != nil {
		return commitError(err)
	}
	return w.guard(func() (err error) {
		w.proc, err = h.Assigned(ctx, w.claim)
		return err
	})
}

// loop reads all topics of the claim and hands what comes to the Processor.
func (w *worker) loop(stop, gen, work context.Context) error {
	ctx, cancel := context.WithCancelCause(stop)
	defer context.AfterFunc(gen, func() { cancel(nil) })()
	in := make(chan fetched)
	var wg sync.WaitGroup
	for topic, p := range w.claim.topics {
		p.asm.Midway = p.start > 0
		cu := w.c.cursor(topic, w.claim.Partition, p.start)
		wg.Go(func() { cancel(w.c.stream(ctx, cu, in)) })
	}
	defer wg.Wait()
	defer cancel(nil)
	for {
		f, err := w.await(ctx, work, in)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return endCause(ctx, stop, gen)
		}
		if f.back {
			err = w.goBack(f)
		} else {
			err = w.process(work, f)
		}
		if err != nil {
			return err
		}
	}
}

// endCause tells the orderly ends from a partition that cannot be read.
func endCause(ctx, stop, gen context.Context) error {
	if stop.Err() != nil || gen.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// await returns the next records, calling Idle while there are none.
func (w *worker) await(ctx, work context.Context, in <-chan fetched) (fetched, error) {
	select {
	case f := <-in:
		return f, nil
	default:
	}
	// A fetch is on its way most of the time: what it brings comes before Idle.
	timer := time.NewTimer(idleGrace)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return fetched{}, nil
		case f := <-in:
			return f, nil
		case <-timer.C:
			if err := w.call(func() error { return w.proc.Idle(work) }); err != nil {
				return fetched{}, err
			}
			timer.Reset(w.c.cfg.IdleInterval)
		}
	}
}

// idleGrace is how long a partition must be quiet before it counts as idle.
const idleGrace = 2 * time.Millisecond

// process assembles records and passes the events on.
func (w *worker) process(ctx context.Context, f fetched) error {
	topic := f.topic
	p := w.claim.topics[topic]
	b := Batch{Topic: topic, Partition: w.claim.Partition, Next: f.next, End: f.end, Events: make([]event.Event, 0, len(f.records))}
	for _, r := range f.records {
		ev, lost := p.asm.Add(r)
		if ev != nil {
			b.Events = append(b.Events, *ev)
		}
		for _, l := range lost {
			if err := w.deadLetter(ctx, l); err != nil {
				return err
			}
		}
	}
	p.deliver(b)
	return w.call(func() error { return w.proc.Process(ctx, b) })
}

// goBack follows a log that has lost what was committed. Where records that are
// lost were delivered, the Processor's picture is wrong: the claim ends, and the
// next one begins at the log's end.
func (w *worker) goBack(f fetched) error {
	delivered := w.claim.topics[f.topic].delivered >= 0
	if err := w.claim.goBack(f.topic, f.next); err != nil {
		return commitError(err)
	}
	if delivered {
		return fmt.Errorf("%w: the log of %s lost records and ends at %d", errGone, f.topic, f.next)
	}
	return nil
}

// deadLetter makes a record that is no event durable elsewhere, trying until
// the partition is taken away: passing it by would lose it.
func (w *worker) deadLetter(ctx context.Context, l event.Lost) error {
	w.c.countLost(l)
	if w.c.set.DeadLetter == nil || w.c.set.Letters != nil && !w.c.set.Letters(w.claim.Group) {
		return nil
	}
	var down outage.Outage
	for wait := newBackoff(); ; wait.sleep(ctx, w.c.ctx) {
		err := w.guard(func() error { return w.c.set.DeadLetter(ctx, l.Record, l.Err) })
		if err == nil {
			if lasted, over := down.End(); over {
				w.c.log.Info("kafka dead letter written", "topic", l.Record.Topic, "after", lasted)
			}
			return nil
		}
		if ctx.Err() != nil || w.c.ctx.Err() != nil {
			return fmt.Errorf("%w: dead letter: %w", errGone, err)
		}
		if down.Begin() {
			w.c.log.Warn("kafka dead letter not written, trying again", "topic", l.Record.Topic, "error", err)
		}
	}
}

// call runs a method of the Processor and commits what it declared durable, also where it hands the rest back.
func (w *worker) call(fn func() error) error {
	failed := w.guard(fn)
	if failed != nil && !errors.Is(failed, ErrHandedBack) {
		return failed
	}
	if err := w.commit(); err != nil {
		return err
	}
	return failed
}

func (w *worker) commit() error {
	before := w.claim.committedSum()
	if err := w.claim.flush(); err != nil {
		return commitError(err)
	}
	if w.claim.committedSum() != before {
		w.c.stats.commits.Add(1)
	}
	return nil
}

// commitError marks what ends a generation and not Consume. A commit that the
// broker did not take leaves its records to be read again.
func commitError(err error) error {
	if err == nil {
		return nil
	}
	if fenced(err) || transient(err) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if notAllowed(err) {
		return classify("commit", err)
	}
	return err
}

// end gives the Processor its last call. Where the group no longer takes our
// commits the partition is lost, and nothing may be flushed from here.
func (w *worker) end(ctx context.Context, failed error) error {
	if failed == nil {
		failed = commitError(w.claim.probe())
	}
	if failed != nil {
		return errors.Join(failed, w.guard(func() error { w.proc.Lost(); return nil }))
	}
	err := w.call(func() error { return w.proc.Revoked(ctx) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: revoked: %w", errGone, err)
	}
	return err
}

// guard turns a panic of the handler into an error.
func (w *worker) guard(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.c.log.Error("kafka handler panicked", "group", w.claim.Group, "partition", w.claim.Partition,
				"panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("handler panicked: %v", r)
		}
	}()
	return fn()
}
