package kafka

import (
	"errors"
	"fmt"
)

// ErrDamaged reports a folder whose log could not be loaded.
var ErrDamaged = errors.New("embedded kafka: the data folder cannot be loaded")

// PortTakenError reports that another process listens on the address.
type PortTakenError struct {
	Addr string
	Err  error
}

// Error says what is taken and what to do.
func (e *PortTakenError) Error() string {
	return fmt.Sprintf("embedded kafka: port taken: another process listens on %s; stop it or choose another port", e.Addr)
}

// Unwrap returns the operating system's error.
func (e *PortTakenError) Unwrap() error { return e.Err }
