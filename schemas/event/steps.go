package event

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Episode decodes payloads of RolloutCompleted without making a message of every step: steps are most of a log, and who only copies
// their fields need not hold them. The zero value is ready. It keeps its memory from one payload to the next and is not safe for
// concurrent use.
type Episode struct {
	// Head is the message without its steps.
	Head *spadepb.RolloutCompleted
	// Steps are its steps, still encoded. They share the payload's memory.
	Steps [][]byte

	rest []byte // the payload without steps
}

// Decode reads a payload; whatever it read before is gone. The error is that of Unmarshal for the same payload, except that what is
// wrong within a step is told by StepView.Decode.
func (e *Episode) Decode(payload []byte) error {
	e.rest, e.Steps = e.rest[:0], e.Steps[:0]
	for b := payload; len(b) > 0; {
		number, wire, n := protowire.ConsumeField(b)
		if n < 0 {
			return malformed(&spadepb.RolloutCompleted{})
		}
		if number != stepsField || wire != protowire.BytesType {
			e.rest = append(e.rest, b[:n]...)
		} else {
			_, _, tag := protowire.ConsumeTag(b)
			step, _ := protowire.ConsumeBytes(b[tag:])
			e.Steps = append(e.Steps, step)
		}
		b = b[n:]
	}
	msg, err := Unmarshal(episodeType, e.rest)
	if err != nil {
		return err
	}
	e.Head = msg.(*spadepb.RolloutCompleted)
	return nil
}

var (
	episodeType = TypeOf(&spadepb.RolloutCompleted{})
	stepsField  = (&spadepb.RolloutCompleted{}).ProtoReflect().Descriptor().Fields().ByName("steps").Number()
)

func malformed(msg proto.Message) error {
	return fmt.Errorf("decode %s: %w: no message", TypeOf(msg), ErrMalformed)
}

// StepView is a step, but for its tokens. Texts and the hash share the payload's memory.
type StepView struct {
	Observation, InfoJSON, Action, ToolName []byte // UTF-8
	StateHash                               []byte
	Reward, Logprob                         float64
	Terminated, Truncated                   bool
}

// Numbers of the fields of Step.
const (
	stepObservation = iota + 1
	stepInfoJSON
	stepAction
	stepToolName
	stepReward
	stepTerminated
	stepTruncated
	stepLogprob
	stepStateHash
	stepTokenIDs
	stepLogprobs
)

// Decode reads one of an Episode's steps. It takes what a decoder of the whole message takes: of a field that occurs twice the last
// one, and fields of other types and of later versions are passed by. The error is ErrMalformed.
func (v *StepView) Decode(step []byte) error {
	*v = StepView{}
	for b := step; len(b) > 0; {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 || number > protowire.MaxValidNumber {
			return malformed(&spadepb.Step{})
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, wire, b); n < 0 || !v.take(number, wire, b[:n]) {
			return malformed(&spadepb.Step{})
		}
		b = b[n:]
	}
	return nil
}

// take reads a field's value; false is one that no decoder takes.
func (v *StepView) take(number protowire.Number, wire protowire.Type, b []byte) bool {
	switch wire {
	case protowire.BytesType:
		value, _ := protowire.ConsumeBytes(b)
		return v.bytes(number, value)
	case protowire.Fixed64Type:
		bits, _ := protowire.ConsumeFixed64(b)
		switch number {
		case stepReward:
			v.Reward = math.Float64frombits(bits)
		case stepLogprob:
			v.Logprob = math.Float64frombits(bits)
		}
	case protowire.VarintType:
		n, _ := protowire.ConsumeVarint(b)
		switch number {
		case stepTerminated:
			v.Terminated = n != 0
		case stepTruncated:
			v.Truncated = n != 0
		}
	}
	return true
}

func (v *StepView) bytes(number protowire.Number, value []byte) bool {
	switch number {
	case stepObservation:
		v.Observation = value
	case stepInfoJSON:
		v.InfoJSON = value
	case stepAction:
		v.Action = value
	case stepToolName:
		v.ToolName = value
	case stepStateHash:
		v.StateHash = value
		return true
	case stepTokenIDs:
		return areVarints(value)
	case stepLogprobs:
		return len(value)%4 == 0
	default:
		return true
	}
	return utf8.Valid(value)
}
