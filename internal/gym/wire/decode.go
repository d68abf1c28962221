package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// ErrMalformed says that a body does not follow the format.
var ErrMalformed = errors.New("malformed message")

// Decoder reads fields from a body. The first fault sticks: every later read gives zero, and Err tells it. The texts it
// returns share the body's memory, so the body must not change afterwards; [NewDecoder] takes a string for that reason.
type Decoder struct {
	rest   string
	err    error
	limits Limits
}

// NewDecoder reads body.
func NewDecoder(body string) *Decoder {
	return &Decoder{rest: body, limits: Limits{Observation: MaxFrame, Info: MaxFrame, Action: MaxFrame, Hint: MaxFrame}}
}

// Within holds what is read of an environment's texts to its limits, and returns the decoder. The worker that should have
// done so runs the environment's code.
func (d *Decoder) Within(limits Limits) *Decoder {
	d.limits = limits
	return d
}

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

// text reads a text of at most so many bytes.
func (d *Decoder) text(most int) string {
	s := d.String()
	if len(s) > most {
		d.fail("a text of %d bytes, %d allowed", len(s), most)
		return ""
	}
	return s
}

// Strings reads a list of texts; an empty list is nil.
func (d *Decoder) Strings() []string { return d.texts(MaxFrame) }

// texts reads a list of texts that have, with one more for each, at most so many bytes.
func (d *Decoder) texts(most int) []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, 0, min(n, 64))
	for range n {
		s := d.String()
		if most -= len(s) + 1; most < 0 {
			d.fail("a list of texts over its limit")
		}
		if d.err != nil {
			return nil
		}
		list = append(list, s)
	}
	return list
}

func (d *Decoder) fault() Fault {
	f := Fault{Outcome: d.outcome()}
	if f.Outcome != Ongoing {
		f.Cause = d.cause(f.Outcome)
		f.Error = cut(d.String())
	}
	return f
}

// cause accepts what a worker may give as one: none of an episode that was played to its end, and of others what does not
// belong to the platform.
func (d *Decoder) cause(of Outcome) Cause {
	played := of == Solved || of == Failed
	switch s := Cause(d.String()); s {
	case CauseNone:
		if played {
			return s
		}
	case CauseException, CauseBudget, CauseRecursion, CauseMemory, CauseProtocol, CauseShape, CauseReward, CauseLimit,
		CauseEncoding, CauseMutation, CauseMismatch:
		if !played {
			return s
		}
	}
	d.fail("a cause that does not fit the outcome %q", of)
	return CauseNone
}

// cut cuts the text of a fault off where no worker's own goes on.
func cut(text string) string {
	if len(text) <= MaxError {
		return text
	}
	return strings.ToValidUTF8(text[:MaxError], "")
}

// outcome accepts only what a worker may decide: the others belong to the platform.
func (d *Decoder) outcome() Outcome {
	switch s := d.String(); Outcome(s) {
	case Ongoing, Solved, Failed, EnvError, VerifierError, Overlong, TextEncoding:
		return Outcome(s)
	default:
		d.fail("outcome %.20q", s)
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
	m := Loaded{Stage: d.stage(), Fault: d.fault()}
	refused := m.Fault.Error != "" && (m.Fault.Outcome == EnvError || m.Fault.Outcome == TextEncoding)
	if d.err == nil && (m.Stage != "") != refused {
		d.fail("stage %q with the outcome %q", m.Stage, m.Fault.Outcome)
	}
	m.Meta = Meta{Title: d.String(), Kind: d.String(), MaxSteps: d.Int(), HasSolve: d.Bool()}
	for _, tool := range d.texts(MaxMeta) {
		if !json.Valid([]byte(tool)) {
			d.fail("a tool that is not JSON")
			break
		}
		m.Meta.Tools = append(m.Meta.Tools, json.RawMessage(tool))
	}
	return m
}

// stage accepts the stages of loading.
func (d *Decoder) stage() string {
	switch s := d.String(); s {
	case "", "parse", "load", "meta":
		return s
	default:
		d.fail("stage %.20q", s)
		return ""
	}
}

// Reset reads a message.
func (d *Decoder) Reset() Reset {
	return Reset{Episode: d.Int(), Seed: d.Uint(), WantHint: d.Bool(), WantSolve: d.Bool()}
}

// Started reads a message.
func (d *Decoder) Started() Started {
	return Started{
		Episode: d.Int(), Observation: d.text(d.limits.Observation), Info: d.text(d.limits.Info), Actions: d.texts(d.limits.Action),
		Hint: d.text(d.limits.Hint), Solution: d.texts(d.limits.Action), StateHash: d.text(hashSize), Fault: d.fault(),
	}
}

// Action reads a message.
func (d *Decoder) Action() Action { return Action{Episode: d.Int(), Text: d.String()} }

// Stepped reads a message.
func (d *Decoder) Stepped() Stepped {
	m := Stepped{
		Episode: d.Int(), Observation: d.text(d.limits.Observation), Info: d.text(d.limits.Info), Actions: d.texts(d.limits.Action),
		Reward: d.Float(), Return: d.Float(), Terminated: d.Bool(), Truncated: d.Bool(), StateHash: d.text(hashSize),
	}
	if d.Bool() {
		v := d.Float()
		m.Verify = &v
	}
	m.Fault = d.fault()
	return m
}
