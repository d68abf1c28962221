package event

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Record is one Kafka record, to be written or as it was read.
type Record struct {
	Topic     string
	Key       []byte
	Value     []byte
	Headers   []Header
	Partition int32
	Offset    int64
	Time      time.Time
}

// Header is one record header.
type Header struct {
	Key   string
	Value []byte
}

// Names of the record headers.
const (
	headerID       = "ce_id"
	headerType     = "ce_type"
	headerSource   = "ce_source"
	headerSpec     = "ce_specversion"
	headerTime     = "ce_time"
	headerContent  = "content-type"
	headerObserved = "spade-observed"
	headerChunk    = "spade-chunk"

	source      = "/spade"
	specVersion = "1.0"
	contentType = "application/protobuf"
)

// HeaderName is a header's name as text; those that events have take no memory of their own.
func HeaderName(name []byte) string {
	switch string(name) {
	case headerID:
		return headerID
	case headerType:
		return headerType
	case headerSource:
		return headerSource
	case headerSpec:
		return headerSpec
	case headerTime:
		return headerTime
	case headerContent:
		return headerContent
	case headerObserved:
		return headerObserved
	case headerChunk:
		return headerChunk
	}
	return string(name)
}

// Encode makes the records of an event, in the order in which they must be appended. A payload over limit bytes becomes
// continuation records of at most limit bytes each; nonce tells this writing of it from any other and must be fresh.
// limit <= 0 means topics.MaxRecordBytes.
func Encode(ev Event, limit int, nonce uuid.UUID) ([]Record, error) {
	if limit <= 0 {
		limit = topics.MaxRecordBytes
	}
	if len(ev.Payload) > topics.MaxEventBytes {
		return nil, &TooLargeError{
			Topic: ev.Topic, Key: ev.Key, Type: ev.Type,
			Actual: len(ev.Payload), Allowed: topics.MaxEventBytes,
		}
	}
	headers, err := encodeHeaders(ev)
	if err != nil {
		return nil, err
	}
	record := func(value []byte, h []Header) Record {
		return Record{Topic: ev.Topic, Key: []byte(ev.Key), Value: value, Headers: h, Time: ev.Time}
	}
	if len(ev.Payload) <= limit {
		return []Record{record(ev.Payload, headers)}, nil
	}
	count := (len(ev.Payload) + limit - 1) / limit
	if count > maxParts {
		return nil, fmt.Errorf("encode %s: %d parts of %d bytes, allowed are %d parts", ev.Type, count, limit, maxParts)
	}
	whole := chunk{nonce: nonce, count: count, total: len(ev.Payload), sum: sha256.Sum256(ev.Payload)}
	records := make([]Record, 0, count)
	for i := range count {
		part := ev.Payload[i*limit : min((i+1)*limit, len(ev.Payload))]
		whole.index = i
		h := append(headers[:len(headers):len(headers)], Header{headerChunk, whole.marshal()})
		records = append(records, record(part, h))
	}
	return records, nil
}

func encodeHeaders(ev Event) ([]Header, error) {
	headers := []Header{
		{headerID, []byte(ev.ID.String())},
		{headerType, []byte(ev.Type)},
		{headerSource, []byte(source)},
		{headerSpec, []byte(specVersion)},
		{headerTime, []byte(ev.Time.UTC().Format(time.RFC3339Nano))},
		{headerContent, []byte(contentType)},
	}
	if ev.Observed == nil {
		return headers, nil
	}
	observed, err := proto.MarshalOptions{Deterministic: true}.Marshal(ev.Observed)
	if err != nil {
		return nil, fmt.Errorf("encode observed of %s: %w", ev.Type, err)
	}
	return append(headers, Header{headerObserved, observed}), nil
}

// decode reads a record's headers. The event's payload is the record's value, which for a continuation record is only
// the part that chunk describes. Nothing is copied: the event shares the record's memory.
func decode(r Record) (Event, *chunk, error) {
	ev := Event{
		Topic: r.Topic, Key: string(r.Key), Payload: r.Value, Time: r.Time,
		Partition: r.Partition, Offset: r.Offset, LastOffset: r.Offset,
	}
	if err := checkHeaders(r.Headers); err != nil {
		return Event{}, nil, err
	}
	var part *chunk
	for _, h := range r.Headers {
		var err error
		switch h.Key {
		case headerID:
			ev.ID, err = uuid.ParseBytes(h.Value)
		case headerType:
			ev.Type = catalogue[string(h.Value)].Type
			if ev.Type == "" {
				ev.Type = string(h.Value)
			}
		case headerTime:
			ev.Time, err = time.Parse(time.RFC3339Nano, string(h.Value))
		case headerObserved:
			ev.Observed = new(spadepb.Observed)
			err = proto.Unmarshal(h.Value, ev.Observed)
		case headerChunk:
			part, err = unmarshalChunk(h.Value)
		}
		if err != nil {
			return Event{}, nil, fmt.Errorf("header %s: %w: %w", h.Key, ErrMalformed, err)
		}
	}
	if ev.ID == uuid.Nil || ev.Type == "" {
		return Event{}, nil, fmt.Errorf("no %s or %s header: %w", headerID, headerType, ErrMalformed)
	}
	if _, ok := catalogue[ev.Type]; !ok {
		return Event{}, nil, fmt.Errorf("event type %q: %w", ev.Type, ErrUnknownType)
	}
	return ev, part, nil
}

// What the headers of a record may take. The longest that are written name where the log ended when a run began, in every
// partition.
const (
	maxHeaders     = 64
	maxHeaderBytes = 512 << 10
)

func checkHeaders(headers []Header) error {
	size := 0
	for _, h := range headers {
		size += len(h.Key) + len(h.Value)
	}
	if len(headers) > maxHeaders || size > maxHeaderBytes {
		return fmt.Errorf("%d headers of %d bytes: %w", len(headers), size, ErrMalformed)
	}
	return nil
}

// chunk is the header of a continuation record: which part of which writing of an event it is.
type chunk struct {
	nonce        uuid.UUID
	index, count int
	total        int
	sum          [sha256.Size]byte
}

const chunkBytes = 16 + 4 + 4 + 8 + sha256.Size

// maxParts is how many parts an event may have. A reader keeps a place for each before it has seen one.
const maxParts = 1 << 16

func (c chunk) marshal() []byte {
	b := make([]byte, 0, chunkBytes)
	b = append(b, c.nonce[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(c.index))
	b = binary.BigEndian.AppendUint32(b, uint32(c.count))
	b = binary.BigEndian.AppendUint64(b, uint64(c.total))
	return append(b, c.sum[:]...)
}

func unmarshalChunk(b []byte) (*chunk, error) {
	if len(b) != chunkBytes {
		return nil, fmt.Errorf("%d bytes, want %d", len(b), chunkBytes)
	}
	c := &chunk{
		index: int(binary.BigEndian.Uint32(b[16:])),
		count: int(binary.BigEndian.Uint32(b[20:])),
		total: int(min(binary.BigEndian.Uint64(b[24:]), topics.MaxEventBytes+1)),
	}
	copy(c.nonce[:], b)
	copy(c.sum[:], b[32:])
	if c.count < 1 || c.count > maxParts || c.index >= c.count || c.total > topics.MaxEventBytes || c.count > c.total {
		return nil, fmt.Errorf("part %d of %d, %d bytes", c.index, c.count, c.total)
	}
	return c, nil
}
