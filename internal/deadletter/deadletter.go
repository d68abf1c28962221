// Package deadletter keeps what a consumer could not decode or apply, so that nothing is dropped silently and no record
// stops a partition. Begin with Writer.
package deadletter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Appender appends events to the log.
type Appender interface {
	Append(ctx context.Context, events ...event.Event) error
}

// Writer appends dead letters of one consumer. It may be used concurrently.
type Writer struct {
	Log      Appender
	Source   *observe.Source
	Consumer string // name of the consumer group's role, such as "warehouse"
}

// Event keeps an event whose payload could not be decoded or applied.
func (w *Writer) Event(ctx context.Context, ev event.Event, reason error) error {
	return w.write(ctx, ev.Topic, ev.Partition, ev.Offset, []byte(ev.Key), ev.Payload, reason)
}

// Record keeps a record that is no event.
func (w *Writer) Record(ctx context.Context, r event.Record, reason error) error {
	return w.write(ctx, r.Topic, r.Partition, r.Offset, r.Key, r.Value, reason)
}

// write derives the letter's id from the place of the record and the consumer, so that meeting it again adds nothing.
func (w *Writer) write(
	ctx context.Context, topic string, partition int32, offset int64, key, payload []byte, reason error,
) error {
	place := fmt.Sprintf("%s/%d", topic, partition)
	subject := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s/%d/%s", place, offset, w.Consumer))
	ev, err := event.New(place, subject, 0, &spadepb.DeadLetter{
		Topic: topic, Partition: partition, Offset: offset, Error: reason.Error(),
		Key: key, Payload: payload, Consumer: w.Consumer,
	}, w.Source.Stamp(time.Now()))
	if err != nil {
		return fmt.Errorf("dead letter of %s at %d: %w", place, offset, err)
	}
	if len(ev.Payload) <= topics.MaxEventBytes {
		err = w.Log.Append(ctx, ev)
	} else {
		err = &event.TooLargeError{Topic: topics.DeadLetters, Actual: len(ev.Payload), Allowed: topics.MaxEventBytes}
	}
	// A letter that is larger than an event may be does without the bytes. They are in the log, at the offset that it names.
	var large *event.TooLargeError
	switch {
	case errors.As(err, &large) && len(payload) > 0:
		reason = fmt.Errorf("%w (its payload of %d bytes is left where it is)", reason, len(payload))
		return w.write(ctx, topic, partition, offset, key, nil, reason)
	case errors.As(err, &large) && len(key) > 0:
		reason = fmt.Errorf("%w (its key of %d bytes is left where it is)", reason, len(key))
		return w.write(ctx, topic, partition, offset, nil, nil, reason)
	}
	if err != nil {
		return fmt.Errorf("append dead letter of %s at %d: %w", place, offset, err)
	}
	return nil
}
