// Package secret holds values that must never be printed.
//
// A Text shows as *** in every log line, error, JSON document and format
// verb, also as an unexported field of a printed struct. Only Reveal gives
// the value, so a search for Reveal lists every place that can leak one.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Mask is what a secret prints as.
const Mask = "***"

// Text is a secret string. The zero Text is empty.
//
// The value sits behind a pointer because fmt calls no methods on unexported
// fields: there it prints an address instead of the text.
type Text struct{ value *string }

// New wraps s.
func New(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{value: &s}
}

// Reveal returns the value itself.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// IsZero reports whether there is no secret.
func (t Text) IsZero() bool { return t.value == nil }

// String returns the mask, or nothing for an empty secret.
func (t Text) String() string {
	if t.IsZero() {
		return ""
	}
	return Mask
}

// Format prints the mask for every verb and flag.
func (t Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, t.String()) }

// GoString returns the mask.
func (t Text) GoString() string { return t.String() }

// LogValue returns the mask.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns the mask: a secret that must be stored is stored through Reveal.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText takes the value from a config file or variable.
func (t *Text) UnmarshalText(b []byte) error {
	*t = New(string(b))
	return nil
}
