package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// ErrMalformed says that a body does not follow the format.
var ErrMalformed = errors.New("malformed message")

// Decoder reads fields from a body. The first fault sticks: every later read gives zero, and Err tells it. The texts it
// returns share the body's memory, so the body must not change afterwards; [NewDecoder] takes a string for that reason.
type Decoder struct {
	rest string
	err  error
}

// NewDecoder reads body.
func NewDecoder(body string) *Decoder { return &Decoder{rest: body} }

// Err returns the first fault.
func (d *Decoder) Err() error { return d.err }

// End reports a fault when anything is left.
func (d *Decoder) End() error {
	if d.err == nil && d.rest != "" {
		d.fail("%d bytes too many", len(d.rest))
	}
	return d.err
}

// More reports whether another message follows.
func (d *Decoder) More() bool { return d.err == nil && d.rest != "" }

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	d.rest = ""
}

// Uint reads an unsigned number.
func (d *Decoder) Uint() uint64 {
	var v uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return v
		}
	}
	d.fail("bad number")
	return 0
}

// Int reads a number from zero to 2³¹-1.
func (d *Decoder) Int() int {
	v := d.Uint()
	if v > math.MaxInt32 {
		d.fail("number %d is too large", v)
		return 0
	}
	return int(v)
}

// Bool reads a flag.
func (d *Decoder) Bool() bool {
	if d.rest == "" || d.rest[0] > 1 {
		d.fail("bad flag")
		return false
	}
	v := d.rest[0] == 1
	d.rest = d.rest[1:]
	return v
}

// Float reads a number by its bits.
func (d *Decoder) Float() float64 {
	if len(d.rest) < 8 {
		d.fail("cut number")
		return 0
	}
	var bits uint64
	for i := range 8 {
		bits |= uint64(d.rest[i]) << (8 * i)
	}
	d.rest = d.rest[8:]
	return math.Float64frombits(bits)
}

// String reads a text, which must be valid UTF-8.
func (d *Decoder) String() string {
	s := d.bytes()
	if !utf8.ValidString(s) {
		d.fail("text that is not UTF-8")
		return ""
	}
	return s
}

func (d *Decoder) bytes() string {
	n := d.Uint()
	if n > uint64(len(d.rest)) {
		d.fail("a text of %d bytes where %d are left", n, len(d.rest))
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// count reads the length of a list whose entries take at least one byte each, so that no length allocates more than the
// message could hold.
func (d *Decoder) count() int {
	n := d.Uint()
	if n > uint64(len(d.rest)) {
		d.fail("a list of %d where %d bytes are left", n, len(d.rest))
		return 0
	}
	return int(n)
}

// Strings reads a list of texts; an empty list is nil.
func (d *Decoder) Strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.String())
	}
	if d.err != nil {
		return nil
	}
	return list
}

func (d *Decoder) fault() Fault {
	f := Fault{Outcome: d.outcome()}
	if f.Outcome != Ongoing {
		f.Cause = Cause(d.String())
		f.Error = d.String()
	}
	return f
}

// outcome accepts only what a worker may decide: the others belong to the platform.
func (d *Decoder) outcome() Outcome {
	switch s := d.String(); Outcome(s) {
	case Ongoing, Solved, Failed, EnvError, VerifierError, Overlong, TextEncoding:
		return Outcome(s)
	default:
		d.fail("outcome %q", s)
		return Ongoing
	}
}

// Load reads a message. The code may be any bytes: whether it is text is for the interpreter to say.
func (d *Decoder) Load() Load {
	m := Load{Runtime: d.String(), Code: d.bytes()}
	l := &m.Limits
	l.LoadSteps = d.Uint()
	l.CallSteps = d.Uint()
	for _, v := range []*int{&l.Depth, &l.Observation, &l.Info, &l.Action, &l.Hint, &l.State} {
		*v = d.Int()
	}
	return m
}

// Loaded reads a message.
func (d *Decoder) Loaded() Loaded {
	m := Loaded{Stage: d.String(), Fault: d.fault()}
	m.Meta = Meta{Title: d.String(), Kind: d.String(), MaxSteps: d.Int(), HasSolve: d.Bool()}
	for range d.count() {
		tool := d.String()
		if d.err == nil && !json.Valid([]byte(tool)) {
			d.fail("a tool that is not JSON")
		}
		m.Meta.Tools = append(m.Meta.Tools, json.RawMessage(tool))
	}
	return m
}

// Reset reads a message.
func (d *Decoder) Reset() Reset {
	return Reset{Episode: d.Int(), Seed: d.Uint(), WantHint: d.Bool(), WantSolve: d.Bool()}
}

// Started reads a message.
func (d *Decoder) Started() Started {
	return Started{
		Episode: d.Int(), Observation: d.String(), Info: d.String(), Actions: d.Strings(),
		Hint: d.String(), Solution: d.Strings(), StateHash: d.String(), Fault: d.fault(),
	}
}

// Action reads a message.
func (d *Decoder) Action() Action { return Action{Episode: d.Int(), Text: d.String()} }

// Stepped reads a message.
func (d *Decoder) Stepped() Stepped {
	m := Stepped{
		Episode: d.Int(), Observation: d.String(), Info: d.String(), Actions: d.Strings(),
		Reward: d.Float(), Return: d.Float(), Terminated: d.Bool(), Truncated: d.Bool(), StateHash: d.String(),
	}
	if d.Bool() {
		v := d.Float()
		m.Verify = &v
	}
	m.Fault = d.fault()
	return m
}
