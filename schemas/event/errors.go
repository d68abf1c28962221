package event

import (
	"errors"
	"fmt"
)

// Classes of errors, for errors.Is.
var (
	ErrUnknownType = errors.New("unknown event type")
	ErrMalformed   = errors.New("malformed record")
	ErrIncomplete  = errors.New("continuation records incomplete")
)

// TooLargeError says that an event is larger than an event may be.
type TooLargeError struct {
	Topic, Key, Type string
	Actual, Allowed  int // payload bytes
}

// Error names the event and both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("event %s for %s in %s is %d bytes, allowed are %d", e.Type, e.Key, e.Topic, e.Actual, e.Allowed)
}
