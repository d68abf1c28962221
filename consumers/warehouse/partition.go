package warehouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/outage"
)

// committer is the part of bus.Claim that a partition uses while it runs.
type committer interface {
	Commit(topic string, next int64) error
}

// claim is what a partition is opened on; *bus.Claim is one.
type claim interface {
	committer
	Topics() []string
	Committed(topic string) (offset int64, ok bool)
	StartAt(topic string, offset int64) error
}

var _ claim = (*bus.Claim)(nil)

// partition is one partition number of a group's topics: a lane for each. The bus calls it from one goroutine.
type partition struct {
	sink   *Sink
	claim  committer
	writer Writer
	number int32
	lanes  map[string]*lane
	order  []string // of the lanes
}

var _ bus.Processor = (*partition)(nil)

func (s *Sink) assigned(ctx context.Context, c *bus.Claim) (bus.Processor, error) {
	p, err := s.open(ctx, c, c.Group, c.Generation, c.Partition)
	if err != nil {
		return nil, err // not p: a nil *partition would be a Processor
	}
	return p, nil
}

// lookback is how many records before a position a large event that ends after it can have begun: the assembler gives up a
// set that stays open for longer.
const lookback = 10_100

// open claims the partition and finds out how far each of its topics is.
func (s *Sink) open(ctx context.Context, c claim, group string, generation, number int32) (*partition, error) {
	p := &partition{
		sink: s, claim: c, number: number, lanes: map[string]*lane{}, order: c.Topics(),
		writer: Writer{Group: group, Generation: generation},
	}
	for _, topic := range p.order {
		p.lanes[topic] = &lane{part: p, place: Place{topic, number}}
	}
	if err := p.identify(ctx); err != nil {
		return nil, err
	}
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	for _, topic := range p.order {
		l := p.lanes[topic]
		committed, ok := c.Committed(topic)
		if !ok || committed <= l.state.Next {
			continue
		}
		// Kafka is ahead of the warehouse, which has been rebuilt or restored: read what it lacks.
		if err := c.StartAt(topic, max(0, l.state.Next-lookback)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// identify asks the log which topics these are.
func (p *partition) identify(ctx context.Context) error {
	ids, err := p.sink.set.Log.TopicIDs(ctx, p.order...)
	if err != nil {
		return fmt.Errorf("warehouse: %w", err)
	}
	p.writer.Incarnations = make(map[string]string, len(ids))
	for topic, id := range ids {
		p.writer.Incarnations[topic] = id.String()
	}
	return nil
}

// same makes sure that a topic is still the one that the partition was opened on. It has to be asked after the events came: what
// was read before it was deleted is of the topic that it was.
func (p *partition) same(ctx context.Context, topic string) error {
	was := p.writer.Incarnations[topic]
	if was == "" {
		return nil
	}
	ids, err := p.sink.set.Log.TopicIDs(ctx, topic)
	if err != nil {
		return fmt.Errorf("warehouse: %w", err)
	}
	if is := ids[topic].String(); is != was {
		return madeAgain(topic, was, is)
	}
	return nil
}

// load takes the claim on every place and then reads their state. In this order nobody else can change it any more.
//
// Every try has a token of its own. A claim whose answer was lost may still be executed, after another writer has claimed the
// places and gone on; it then lets nobody in, rather than this writer with what it had read before.
func (p *partition) load(ctx context.Context) error {
	places := make([]Place, 0, len(p.order))
	for _, topic := range p.order {
		places = append(places, p.lanes[topic].place)
	}
	err := p.retry(ctx, "claim", func(ctx context.Context) error {
		p.writer.Token = token()
		return p.sink.set.Store.Claim(ctx, places, p.writer)
	})
	if err != nil {
		return err
	}
	return p.retry(ctx, "load", func(ctx context.Context) error {
		states, err := p.sink.set.Store.Load(ctx, p.writer.Group, places)
		if err != nil {
			return err
		}
		for place, state := range states {
			if is := p.writer.Incarnations[place.Topic]; is != "" && state.Incarnation != "" && is != state.Incarnation {
				return madeAgain(place.Topic, state.Incarnation, is)
			}
			p.lanes[place.Topic].resume(state)
		}
		return nil
	})
}

// Process gathers the events of a batch and flushes lanes that are full or have waited too long.
func (p *partition) Process(ctx context.Context, b bus.Batch) error {
	l := p.lanes[b.Topic]
	if l == nil {
		return fmt.Errorf("batch of %s, which was not claimed", b.Topic)
	}
	for i := range b.Events {
		l.add(&b.Events[i])
		if l.due(p.sink.cfg.FlushBytes) {
			if err := l.flush(ctx); err != nil {
				return err
			}
		}
	}
	l.delivered = b.Next
	l.behind = b.Next < b.End
	return p.flushOlder(ctx, p.sink.cfg.FlushMax)
}

// backlog is how much longer events wait for more while their partition has more that was not read yet: nobody looks for fresh
// rows in a warehouse that is behind, and large blocks are cheaper.
const backlog = 5

// hurry is how long events wait while somebody waits for them.
const hurry = time.Millisecond

// Idle flushes what has waited long enough for more.
func (p *partition) Idle(ctx context.Context) error {
	if p.sink.progress.awaited() {
		return p.flushOlder(ctx, hurry)
	}
	return p.flushOlder(ctx, p.sink.cfg.FlushIdle)
}

func (p *partition) flushOlder(ctx context.Context, age time.Duration) error {
	for _, topic := range p.order {
		l := p.lanes[topic]
		wait := age
		if l.behind && age > 0 {
			wait = max(age, p.sink.cfg.FlushMax) * backlog
		}
		if !l.pending() || (wait > 0 && time.Since(l.since) < wait) {
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Revoked flushes everything: the next owner of the partition goes on from here.
func (p *partition) Revoked(ctx context.Context) error { return p.flushOlder(ctx, 0) }

// Lost forgets what is not durable. It is in the log, and belongs to another process.
func (p *partition) Lost() { p.lanes = nil }

// fullFor is how long a full disk is waited for: it empties only when somebody does something about it.
const fullFor = 30 * time.Second

// Tries reports the tries of a statement.
func Tries(log *slog.Logger) outage.Tries {
	return outage.Tries{Log: log, Failed: "warehouse statement is tried again", Worked: "warehouse takes the statement again"}
}

// retry calls fn until it succeeds, fails for good or ctx ends.
func (p *partition) retry(ctx context.Context, what string, fn func(context.Context) error) error {
	began, tries := time.Now(), Tries(p.sink.log)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := p.once(ctx, fn)
		if err == nil || !errors.Is(err, ErrTransient) {
			if err == nil {
				tries.Succeeds(ctx, "step", what)
			}
			return wrap(what, err)
		}
		if olap.Code(err) == olap.CodeDiskFull && time.Since(began) > p.sink.fullFor {
			return fmt.Errorf("%s: %w: make room and start again, nothing is lost: %w", what, ErrDiskFull, err)
		}
		p.sink.stats.retries.Add(1)
		if ctx.Err() == nil {
			tries.Fails(ctx, olap.Code(err), "step", what, "error", err)
		}
		t := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("%s: %w: %w", what, ctx.Err(), err)
		case <-t.C:
		}
	}
}

func (p *partition) once(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.sink.cfg.StatementTimeout)
	defer cancel()
	return fn(ctx)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
