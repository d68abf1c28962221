package event

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Partial decodes some fields of the payloads of one type and passes the others by unread: of an episode how it ended, and
// not its steps. It may be used concurrently.
type Partial struct {
	ceType string
	kind   protoreflect.MessageType
	kept   []bool // by field number
}

// NewPartial is for payloads of a message's type and its fields of those names. One that the message lacks is left out.
func NewPartial(msg proto.Message, fields ...protoreflect.Name) Partial {
	p := Partial{ceType: TypeOf(msg), kind: msg.ProtoReflect().Type()}
	for _, name := range fields {
		f := msg.ProtoReflect().Descriptor().Fields().ByName(name)
		if f == nil {
			continue
		}
		for len(p.kept) <= int(f.Number()) {
			p.kept = append(p.kept, false)
		}
		p.kept[f.Number()] = true
	}
	return p
}

// Message is the payload's message with nothing but the fields that are asked for. The error is ErrMalformed; what is wrong
// inside of a field that is passed by is not seen.
func (p Partial) Message(payload []byte) (proto.Message, error) {
	msg := p.kind.New().Interface()
	if len(p.kept) == 0 {
		return msg, nil
	}
	var room [256]byte
	some := room[:0]
	for b := payload; len(b) > 0; {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, fmt.Errorf("%s: %w: %w", p.ceType, ErrMalformed, protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, wire, b[n:])
		if size < 0 {
			return nil, fmt.Errorf("%s: %w: %w", p.ceType, ErrMalformed, protowire.ParseError(size))
		}
		if int(number) < len(p.kept) && p.kept[number] {
			some = append(some, b[:n+size]...)
		}
		b = b[n+size:]
	}
	if err := proto.Unmarshal(some, msg); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.ceType, ErrMalformed, err)
	}
	return msg, nil
}
