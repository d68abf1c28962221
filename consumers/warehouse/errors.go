package warehouse

import (
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/schemas/tables"
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
	// ErrNoWindow: a table does not recognise blocks by their tokens.
	ErrNoWindow = errors.New("warehouse: its tables do not recognise repeated blocks")
)

// noWindow says what to change.
func noWindow(table string) error {
	return fmt.Errorf("%w: ALTER TABLE %s.%s MODIFY SETTING non_replicated_deduplication_window = %d "+
		"(replicated_deduplication_window of a replicated table), then start again",
		ErrNoWindow, tables.Database, table, tables.DedupWindow)
}

// madeAgain says that a topic is not the one that it was.
func madeAgain(topic, was, is string) error {
	return fmt.Errorf("topic %s was deleted and made again (its id was %s and is %s), so its offsets begin at 0 again: %w; "+
		"spade rebuild --warehouse --memory fills new ones from the log of today, or point this one at the log it came from",
		topic, was, is, ErrOtherLog)
}

// otherLog says what contradicts.
func otherLog(p Place, next, end int64) error {
	return fmt.Errorf("%s/%d: the warehouse holds offsets up to %d, the log ends at %d: %w; "+
		"spade rebuild --warehouse fills a new one from the log of today, or point this one at the log it came from", p.Topic, p.Partition, next, end, ErrOtherLog)
}
