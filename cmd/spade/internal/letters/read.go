package letters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Log is what letters are read from and records appended to; *bus.Client is one.
type Log interface {
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
	ReadRecords(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Record) error) error
	AppendRecords(ctx context.Context, records ...event.Record) error
	HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error)
	PartitionOf(ctx context.Context, topic string, key []byte) (int32, error)
}

// Place is one record of the log.
type Place struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// String is topic/partition at offset.
func (p Place) String() string { return fmt.Sprintf("%s/%d at %d", p.Topic, p.Partition, p.Offset) }

func (p Place) compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Topic, o.Topic), cmp.Compare(p.Partition, o.Partition), cmp.Compare(p.Offset, o.Offset))
}

// Letter is one dead letter, without the bytes of its record.
type Letter struct {
	ID       uuid.UUID
	Time     time.Time
	Record   Place // that could not be decoded or applied
	Key      []byte
	Consumer string
	Error    string
	Size     int    // bytes of the record's value, as far as the letter has them
	Retried  *Place // the newest record that repeats it; nil: none does
	RetryOf  *Place // its record is itself a repetition of this one
}

// Query is which letters are wanted.
type Query struct {
	Run   uuid.UUID // uuid.Nil: of all runs, and of none
	Topic string    // of their records; empty: all
}

// Read lists the letters, in the order in which they were written.
func Read(ctx context.Context, log Log, q Query) ([]Letter, error) {
	var list []Letter
	seen := map[uuid.UUID]bool{}
	err := log.Read(ctx, topics.DeadLetters, nil, nil, func(ev event.Event) error {
		if seen[ev.ID] {
			return nil
		}
		seen[ev.ID] = true
		msg, err := ev.Message()
		if errors.Is(err, event.ErrMalformed) || errors.Is(err, event.ErrUnknownType) {
			return nil
		}
		m, ok := msg.(*spadepb.DeadLetter)
		if !ok {
			return err
		}
		if (q.Topic != "" && q.Topic != m.GetTopic()) || (q.Run != uuid.Nil && !topics.OfRun(string(m.GetKey()), q.Run)) {
			return nil
		}
		list = append(list, Letter{
			ID: ev.ID, Time: ev.Time.UTC(), Record: Place{m.GetTopic(), m.GetPartition(), m.GetOffset()},
			Key: m.GetKey(), Consumer: m.GetConsumer(), Error: m.GetError(), Size: len(m.GetPayload()),
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	return list, findRetries(ctx, log, list)
}

// lane is one partition that may hold repetitions.
type lane struct {
	topic     string
	partition int32
}

// findRetries looks where the records of letters would have been appended again, from the oldest of them on.
func findRetries(ctx context.Context, log Log, list []Letter) error {
	from := map[lane]int64{}
	need := func(l lane, at int64) {
		if old, ok := from[l]; !ok || at < old {
			from[l] = at
		}
	}
	for _, l := range list {
		if !known(l.Record.Topic) {
			continue
		}
		p, err := log.PartitionOf(ctx, l.Record.Topic, l.Key)
		if err != nil {
			return err
		}
		need(lane{l.Record.Topic, l.Record.Partition}, l.Record.Offset)
		if p != l.Record.Partition { // who wrote the record has a partitioner of its own
			need(lane{l.Record.Topic, p}, 0)
		}
	}
	retried, retryOf := map[Place]Place{}, map[Place]Place{}
	for l, at := range from {
		ends, err := log.HighWatermarks(ctx, l.topic)
		if err != nil {
			return err
		}
		one := func(v int64) map[int32]int64 { return map[int32]int64{l.partition: v} }
		err = log.ReadRecords(ctx, l.topic, one(at), one(ends[l.partition]), func(r event.Record) error {
			if partition, offset, ok := deadletter.RetryOf(r); ok {
				here := Place{r.Topic, r.Partition, r.Offset}
				of := Place{r.Topic, partition, offset}
				retried[of], retryOf[here] = here, of
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for retries in %s/%d: %w", l.topic, l.partition, err)
		}
	}
	for i := range list {
		if at, ok := retried[list[i].Record]; ok {
			list[i].Retried = &at
		}
		if of, ok := retryOf[list[i].Record]; ok {
			list[i].RetryOf = &of
		}
	}
	return nil
}

// known reports whether a letter's topic is one of the catalogue: a letter may say anything.
func known(topic string) bool {
	return slices.ContainsFunc(topics.All(1), func(t topics.Topic) bool { return t.Name == topic })
}

// ErrNoLetter says that no letter has that id, or more than one begins with it.
var ErrNoLetter = errors.New("no such dead letter")

// Choose picks letters by their ids or the beginnings of them.
func Choose(list []Letter, ids []string) ([]Letter, error) {
	var out []Letter
	for _, id := range ids {
		var found []Letter
		for _, l := range list {
			if strings.HasPrefix(l.ID.String(), strings.ToLower(id)) {
				found = append(found, l)
			}
		}
		if len(found) != 1 || len(id) < 4 {
			return nil, fmt.Errorf("%w: %q fits %d of %d", ErrNoLetter, id, len(found), len(list))
		}
		out = append(out, found...)
	}
	return out, nil
}
