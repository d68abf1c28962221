package warehouse

import (
	"errors"
	"fmt"
)

// Classes of errors, for errors.Is.
var (
	// ErrFenced: another writer holds the claim on the partition.
	ErrFenced = errors.New("warehouse: another writer holds this partition")
	// ErrTransient: no answer came or the server is busy; the statement may have been executed, and repeating it is safe.
	ErrTransient = errors.New("warehouse: not available")
	// ErrDiskFull: the warehouse has had no room for a while.
	ErrDiskFull = errors.New("warehouse: its disk is full")
	// ErrOtherLog: the warehouse was filled from another log than this one.
	ErrOtherLog = errors.New("warehouse: it holds another log")
)

// otherLog says what contradicts.
func otherLog(p Place, next, end int64) error {
	return fmt.Errorf("%s/%d: the warehouse holds offsets up to %d, the log ends at %d: %w; "+
		"rebuild the warehouse or point it at the log it came from", p.Topic, p.Partition, next, end, ErrOtherLog)
}
