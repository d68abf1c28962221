package wire

import (
	"encoding/binary"
	"math"
)

// Encoder appends fields to a body. Its zero value is ready.
type Encoder struct{ Buf []byte }

// Uint appends an unsigned number.
func (e *Encoder) Uint(v uint64) { e.Buf = binary.AppendUvarint(e.Buf, v) }

// Int appends a number that is zero or more.
func (e *Encoder) Int(v int) { e.Uint(uint64(v)) }

// Bool appends a flag.
func (e *Encoder) Bool(v bool) {
	if v {
		e.Buf = append(e.Buf, 1)
	} else {
		e.Buf = append(e.Buf, 0)
	}
}

// Float appends a number by its bits.
func (e *Encoder) Float(v float64) {
	e.Buf = binary.LittleEndian.AppendUint64(e.Buf, math.Float64bits(v))
}

// String appends a text with its length.
func (e *Encoder) String(s string) {
	e.Int(len(s))
	e.Buf = append(e.Buf, s...)
}

// Strings appends a list of texts.
func (e *Encoder) Strings(list []string) {
	e.Int(len(list))
	for _, s := range list {
		e.String(s)
	}
}

func (e *Encoder) fault(f Fault) {
	e.String(string(f.Outcome))
	if f.Outcome == Ongoing {
		return
	}
	e.String(string(f.Cause))
	e.String(f.Error)
}

// Load appends a message.
func (e *Encoder) Load(m Load) {
	e.String(m.Runtime)
	e.String(m.Code)
	l := m.Limits
	e.Uint(l.LoadSteps)
	e.Uint(l.CallSteps)
	for _, v := range []int{l.Depth, l.Observation, l.Info, l.Action, l.Hint, l.State} {
		e.Int(v)
	}
}

// Loaded appends a message.
func (e *Encoder) Loaded(m Loaded) {
	e.String(m.Stage)
	e.fault(m.Fault)
	e.String(m.Meta.Title)
	e.String(m.Meta.Kind)
	e.Int(m.Meta.MaxSteps)
	e.Bool(m.Meta.HasSolve)
	e.Int(len(m.Meta.Tools))
	for _, t := range m.Meta.Tools {
		e.String(string(t))
	}
}

// Reset appends a message.
func (e *Encoder) Reset(m Reset) {
	e.Int(m.Episode)
	e.Uint(m.Seed)
	e.Bool(m.WantHint)
	e.Bool(m.WantSolve)
}

// Started appends a message.
func (e *Encoder) Started(m Started) {
	e.Int(m.Episode)
	e.String(m.Observation)
	e.String(m.Info)
	e.Strings(m.Actions)
	e.String(m.Hint)
	e.Strings(m.Solution)
	e.String(m.StateHash)
	e.fault(m.Fault)
}

// Action appends a message.
func (e *Encoder) Action(m Action) {
	e.Int(m.Episode)
	e.String(m.Text)
}

// Stepped appends a message.
func (e *Encoder) Stepped(m Stepped) {
	e.Int(m.Episode)
	e.String(m.Observation)
	e.String(m.Info)
	e.Strings(m.Actions)
	e.Float(m.Reward)
	e.Float(m.Return)
	e.Bool(m.Terminated)
	e.Bool(m.Truncated)
	e.String(m.StateHash)
	e.Bool(m.Verify != nil)
	if m.Verify != nil {
		e.Float(*m.Verify)
	}
	e.fault(m.Fault)
}
