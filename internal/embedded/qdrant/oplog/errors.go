package oplog

import (
	"errors"
	"fmt"
)

// ErrUnusable reports a log whose last write or flush failed in a way that
// leaves the file's tail unknown. Reading goes on; writing needs a new Open.
var ErrUnusable = errors.New("log takes no more writes after a failed write; restart to recover it")

// DamagedError reports a log that is broken before its end.
type DamagedError struct {
	// Path is the file, Offset where the first unsound record begins.
	Path   string
	Offset int64
	// Reason says what is unsound about it.
	Reason string
}

// Error implements error.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("log %s is damaged at byte %d: %s", e.Path, e.Offset, e.Reason)
}
