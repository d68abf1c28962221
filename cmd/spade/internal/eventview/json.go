package eventview

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed256f7767/spade/schemas/event"
)

// document is one event as a script reads it.
type document struct {
	Topic      string          `json:"topic"`
	Partition  int32           `json:"partition"`
	Offset     int64           `json:"offset"`
	LastOffset int64           `json:"last_offset,omitempty"` // of a large event's last record
	Key        string          `json:"key"`
	Headers    headers         `json:"headers"`
	Observed   json.RawMessage `json:"observed,omitempty"`
	Payload    json.RawMessage `json:"payload"`
}

// headers are the CloudEvents attributes that are not the same for every event.
type headers struct {
	ID   string `json:"ce_id"`
	Type string `json:"ce_type"`
	Time string `json:"ce_time"`
}

// JSON writes an event as one JSON object without line breaks. Numbers stay numbers, unset fields are left out, bytes
// are UUIDs when they are 16 long, hexadecimal when 32, and base64 otherwise.
func JSON(ev event.Event) ([]byte, error) {
	msg, err := ev.Message()
	if err != nil {
		return nil, err
	}
	doc := document{
		Topic: ev.Topic, Partition: ev.Partition, Offset: ev.Offset, Key: ev.Key,
		Headers: headers{ev.ID.String(), ev.Type, ev.Time.UTC().Format(time.RFC3339Nano)},
	}
	if ev.LastOffset != ev.Offset {
		doc.LastOffset = ev.LastOffset
	}
	if doc.Payload, err = Message(msg); err != nil {
		return nil, err
	}
	if ev.Observed != nil {
		if doc.Observed, err = Message(ev.Observed); err != nil {
			return nil, err
		}
	}
	return marshal(doc)
}

// Message writes a payload as a JSON object, its fields in the order of their numbers.
func Message(msg proto.Message) ([]byte, error) {
	var b bytes.Buffer
	if err := message(&b, msg.ProtoReflect()); err != nil {
		return nil, fmt.Errorf("write %s: %w", msg.ProtoReflect().Descriptor().Name(), err)
	}
	return b.Bytes(), nil
}

func message(b *bytes.Buffer, m protoreflect.Message) error {
	if m.Descriptor().FullName() == "google.protobuf.Timestamp" {
		return timestamp(b, m)
	}
	b.WriteByte('{')
	first := true
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(b, "%q:", f.Name())
		if err := field(b, f, m.Get(f)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func timestamp(b *bytes.Buffer, m protoreflect.Message) error {
	fields := m.Descriptor().Fields()
	at := time.Unix(m.Get(fields.ByName("seconds")).Int(), m.Get(fields.ByName("nanos")).Int()).UTC()
	_, err := fmt.Fprintf(b, "%q", at.Format(time.RFC3339Nano))
	return err
}

func field(b *bytes.Buffer, f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	if !f.IsList() {
		return value(b, f, v)
	}
	b.WriteByte('[')
	for i := range v.List().Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := value(b, f, v.List().Get(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func value(b *bytes.Buffer, f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	var plain any
	switch f.Kind() {
	case protoreflect.MessageKind:
		return message(b, v.Message())
	case protoreflect.BytesKind:
		plain = bytesText(v.Bytes())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		plain = v.Interface()
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			plain = fmt.Sprint(x)
		}
	default:
		plain = v.Interface()
	}
	out, err := marshal(plain)
	if err != nil {
		return err
	}
	b.Write(out)
	return nil
}

// bytesText writes the bytes of a field by what they are.
func bytesText(data []byte) string {
	switch len(data) {
	case len(uuid.UUID{}):
		return uuid.UUID(data).String()
	case 32:
		return hex.EncodeToString(data)
	default:
		return base64.StdEncoding.EncodeToString(data)
	}
}

// marshal is JSON on one line without HTML's escapes. Control characters are escaped, as JSON demands.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
