package event

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Event is one thing that happened. Its payload is marshalled once and never again: digests are taken over the bytes.
type Event struct {
	Topic    string
	Key      string
	Type     string // ce_type, "spade.v1.RunStarted"
	ID       uuid.UUID
	Payload  []byte
	Observed *spadepb.Observed // may be nil
	Time     time.Time         // when it was made; UTC, in no digest

	// Where it was read from. A large event has several records: Offset is the first one's, LastOffset the last one's.
	Partition  int32
	Offset     int64
	LastOffset int64
}

// New makes the event of a payload about a subject. attempt is 0 unless the type counts attempts of its own.
func New(key string, subject uuid.UUID, attempt int, msg proto.Message, obs *spadepb.Observed) (Event, error) {
	ceType := TypeOf(msg)
	k, ok := catalogue[ceType]
	if !ok {
		return Event{}, fmt.Errorf("event type %q: %w", ceType, ErrUnknownType)
	}
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(msg)
	if err != nil {
		return Event{}, fmt.Errorf("encode %s: %w", ceType, err)
	}
	return Event{
		Topic:    k.Topic,
		Key:      key,
		Type:     ceType,
		ID:       ids.Event(ceType, subject, attempt),
		Payload:  payload,
		Observed: obs,
		Time:     time.Now().UTC(),
	}, nil
}

// Message decodes the payload. The error is ErrUnknownType or ErrMalformed.
func (e Event) Message() (proto.Message, error) {
	return Unmarshal(e.Type, e.Payload)
}
