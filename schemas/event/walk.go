package event

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// fault is what is wrong with a payload.
type fault struct {
	field  string // empty: all of it
	class  error
	reason string
}

// noMessage is a payload that no decoder takes.
func noMessage() *fault { return &fault{class: ErrMalformed, reason: "the payload is no message"} }

// walk checks every field of a message by its rule and notes the facts; f is nil inside of a field. Fields without a rule
// are those of a later version: they are passed by. Nil says that all is well.
func (s *shape) walk(b []byte, f *facts) *fault {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 || number > protowire.MaxValidNumber {
			return noMessage()
		}
		b = b[n:]
		var value []byte
		if wire == protowire.BytesType {
			value, n = protowire.ConsumeBytes(b)
		} else if n = protowire.ConsumeFieldValue(number, wire, b); n >= 0 {
			value = b[:n]
		}
		if n < 0 {
			return noMessage()
		}
		b = b[n:]
		if int(number) >= len(s.fields) {
			continue
		}
		if r := s.fields[number]; r != nil && (r.kind != anything || r.as != noFact) {
			if bad := r.take(wire, value, f); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// take checks one occurrence of the field. What has another wire type is not this field to a decoder either.
func (r *rule) take(wire protowire.Type, value []byte, f *facts) *fault {
	packed := wire == protowire.BytesType && r.wire != protowire.BytesType
	if wire != r.wire && !(packed && r.list) {
		return nil
	}
	if r.kind == message {
		bad := r.sub.walk(value, nil)
		if bad != nil {
			bad.field = strings.TrimSuffix(r.name+"."+bad.field, ".")
		}
		return bad
	}
	if err := r.check(value, packed); err != nil {
		return &fault{field: r.name, class: ErrValue, reason: err.Error()}
	}
	if f != nil && r.as != noFact {
		r.note(value, packed, f)
	}
	return nil
}

func (r *rule) note(value []byte, packed bool, f *facts) {
	switch {
	case r.as == factSeeds:
		f.seeds++
		if packed {
			f.seeds += int64(varints(value)) - 1
		}
	case r.kind == integer:
		n, _ := protowire.ConsumeVarint(value)
		f.number(r.as, r.signed(n))
	default:
		*f.id(r.as) = value
	}
}

var (
	errNotUTF8 = errors.New("is not UTF-8")
	errNumbers = errors.New("holds no numbers")
)

func (r *rule) check(value []byte, packed bool) error {
	switch r.kind {
	case text:
		if len(value) > r.most {
			return fmt.Errorf("%d bytes, allowed are %d", len(value), r.most)
		}
		if !utf8.Valid(value) {
			return errNotUTF8
		}
	case identifier:
		if len(value) != 0 && len(value) != uuidBytes {
			return fmt.Errorf("an id of %d bytes", len(value))
		}
	case identifiers:
		if len(value)%uuidBytes != 0 {
			return fmt.Errorf("ids of %d bytes together", len(value))
		}
	case hash:
		if len(value) > 64 {
			return fmt.Errorf("a hash of %d bytes", len(value))
		}
	case integer:
		return r.integers(value, packed)
	case double:
		return doubles(value)
	case float:
		return floats(value)
	}
	return nil
}

// integers checks one number, or all of a packed list. token_ids are the long ones: they may be any numbers.
func (r *rule) integers(value []byte, packed bool) error {
	if packed && r.low <= math.MinInt32 {
		if !areVarints(value) {
			return errNumbers
		}
		return nil
	}
	for len(value) > 0 {
		n, size := protowire.ConsumeVarint(value)
		if size < 0 {
			return errNumbers
		}
		value = value[size:]
		if x := r.signed(n); x < r.low || x > r.high {
			return fmt.Errorf("%d is not between %d and %d", x, r.low, r.high)
		}
	}
	return nil
}

// signed is a varint as the field's type reads it.
func (r *rule) signed(n uint64) int64 {
	if r.narrow {
		return int64(int32(n)) //nolint:gosec // as a decoder does
	}
	return int64(n) //nolint:gosec // as a decoder does
}

func doubles(value []byte) error {
	for len(value) > 0 {
		bits, size := protowire.ConsumeFixed64(value)
		if size < 0 {
			return errNumbers
		}
		value = value[size:]
		if x := math.Float64frombits(bits); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v is no number", x)
		}
	}
	return nil
}

func floats(value []byte) error {
	const exponent = 0x7f800000 // all of it set: an infinity or not a number
	for len(value) > 0 {
		bits, size := protowire.ConsumeFixed32(value)
		if size < 0 {
			return errNumbers
		}
		value = value[size:]
		if bits&exponent == exponent {
			return fmt.Errorf("%v is no number", math.Float32frombits(bits))
		}
	}
	return nil
}

// areVarints reports whether a decoder can take a packed list apart: each number ends within ten bytes and fits 64 bits.
func areVarints(value []byte) bool {
	const last = 9 // the tenth byte holds the 64th bit alone
	begun := 0
	for _, c := range value {
		switch {
		case begun == last && c > 1:
			return false
		case c < 0x80:
			begun = 0
		default:
			begun++
		}
	}
	return begun == 0
}

// varints counts the numbers of a packed list.
func varints(value []byte) int {
	n := 0
	for _, c := range value {
		if c < 0x80 {
			n++
		}
	}
	return n
}
