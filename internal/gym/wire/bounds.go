package wire

import (
	"errors"
	"strings"
	"unicode"
)

// Bounds of what META may say. The whole of it is canonical JSON of at most MaxMeta bytes.
const (
	MaxTitle = 200 // bytes
	MaxSteps = 1000
	MaxMeta  = 64 << 10
)

// MaxError bounds the text of a fault, in bytes.
const MaxError = 4 << 10

// FlushBytes is how many bytes of answers a worker gathers before it sends them.
const FlushBytes = 256 << 10

// hashSize is that of a state's hash in hexadecimal.
const hashSize = 64

// Frame is the size that no frame of an honest worker is over: what it gathers, one more answer, and the smaller texts.
func (l Limits) Frame() int {
	return FlushBytes + l.Observation + l.Info + l.Hint + 2*l.Action + MaxMeta + 16*MaxError
}

// Tolerance is how far a return may be from a score and still be equal to it, and how far outside [0, 1] either may lie.
const Tolerance = 1e-6

// IsKind reports whether META may name that kind.
func IsKind(kind string) bool { return kind == "reasoning" || kind == "tools" || kind == "game" }

// IsTitle reports whether META may have that title: a text of 1 to MaxTitle bytes that shows something, on one line.
func IsTitle(title string) bool {
	return len(title) <= MaxTitle && strings.TrimSpace(title) != "" && !strings.ContainsFunc(title, unicode.IsControl)
}

// Check says what no META can have said. An environment's code shares its process with the code that checks META, so what a
// worker tells may have been made up.
func (m Meta) Check() error {
	switch {
	case !IsTitle(m.Title):
		return errors.New("the worker tells of a title that META cannot have")
	case !IsKind(m.Kind):
		return errors.New("the worker tells of a kind that META cannot have")
	case m.MaxSteps < 1 || m.MaxSteps > MaxSteps:
		return errors.New("the worker tells of a max_steps that META cannot have")
	}
	return nil
}
