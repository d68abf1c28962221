package eventview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ErrNoTopic says that the catalogue has no topic of that name.
var ErrNoTopic = errors.New("no such topic")

// Log is what events are read from; the bus's client is one.
type Log interface {
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
	Follow(ctx context.Context, topics []string, from bus.Positions, fn func(event.Event) error) error
}

// Names lists the topics.
func Names() []string {
	var names []string
	for _, t := range topics.All(1) {
		names = append(names, t.Name)
	}
	return names
}

// Topic finds a topic by its name, which may lack the prefix "spade.". The error is of class ErrNoTopic.
func Topic(name string) (string, error) {
	for _, known := range Names() {
		if name == known || "spade."+name == known {
			return known, nil
		}
	}
	return "", fmt.Errorf("%w: %q; there are %s", ErrNoTopic, name, strings.Join(Names(), ", "))
}

// Query chooses events.
type Query struct {
	Topic string
	Run   string // name or id of a run; empty = all events
}

// wanted reports which events the query chooses.
func (q Query) wanted() func(event.Event) bool {
	if q.Run == "" {
		return func(event.Event) bool { return true }
	}
	id, err := uuid.Parse(q.Run)
	if err != nil {
		id = ids.Run(q.Run)
	}
	return func(ev event.Event) bool { return topics.OfRun(ev.Key, id) }
}

// Cat prints the events that the log holds now, one partition after the other, and says how many. Those that cannot be
// decoded are counted by unreadable and passed over.
func Cat(ctx context.Context, log Log, q Query, p Printer) (printed, unreadable int, err error) {
	wanted := q.wanted()
	err = log.Read(ctx, q.Topic, nil, nil, func(ev event.Event) error {
		if !wanted(ev) {
			return nil
		}
		err := p.Print(ev)
		if errors.Is(err, event.ErrMalformed) {
			unreadable++
			return nil
		}
		printed++
		return err
	})
	return printed, unreadable, err
}

// Tail prints the last lines events of each partition that the query chooses and then, when follow is set, those that come
// until ctx ends. Without a run to choose by, events that cannot be decoded count among the last.
func Tail(ctx context.Context, log Log, q Query, p Printer, lines int64, follow bool) error {
	ends, err := log.HighWatermarks(ctx, q.Topic)
	if err != nil {
		return err
	}
	wanted := q.wanted()
	show := func(ev event.Event) error {
		if !wanted(ev) {
			return nil
		}
		if err := p.Print(ev); !errors.Is(err, event.ErrMalformed) {
			return err
		}
		return nil
	}
	err = last(ctx, log, q, ends, lines, show)
	if !follow {
		return err
	}
	if err == nil {
		err = log.Follow(ctx, []string{q.Topic}, bus.Positions{q.Topic: ends}, show)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // an interrupt is how following ends
	}
	return err
}

// last shows the last lines events of each partition up to ends. Those of a run may lie anywhere, so that all of the topic is
// read for them.
func last(ctx context.Context, log Log, q Query, ends map[int32]int64, lines int64, show func(event.Event) error) error {
	if lines == 0 {
		return nil
	}
	if q.Run == "" {
		from := map[int32]int64{}
		for partition, end := range ends {
			from[partition] = max(0, end-lines)
		}
		return log.Read(ctx, q.Topic, from, ends, show)
	}
	wanted, newest := q.wanted(), map[int32][]event.Event{}
	err := log.Read(ctx, q.Topic, nil, ends, func(ev event.Event) error {
		if !wanted(ev) {
			return nil
		}
		kept := append(newest[ev.Partition], ev)
		if int64(len(kept)) > lines {
			kept = slices.Delete(kept, 0, 1)
		}
		newest[ev.Partition] = kept
		return nil
	})
	if err != nil {
		return err
	}
	for _, partition := range slices.Sorted(maps.Keys(newest)) {
		for _, ev := range newest[partition] {
			if err := show(ev); err != nil {
				return err
			}
		}
	}
	return nil
}
