package clickhouse

import (
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
)

// Classes of failure, for errors.Is.
var (
	// ErrLibrary: libchdb cannot be loaded.
	ErrLibrary = errors.New("the ClickHouse engine cannot be loaded")
	// ErrAddress: the address is taken, or not to be had.
	ErrAddress = errors.New("the address cannot be listened on")
	// ErrLocked: another process uses the folder.
	ErrLocked = errors.New("the data folder is in use")
	// ErrFolder: the engine cannot open the folder, which may be damaged or another version's.
	ErrFolder = errors.New("the data folder cannot be opened")
	// ErrDied: the child ended by itself.
	ErrDied = errors.New("the ClickHouse process ended")
)

var classes = map[string]error{
	child.ClassLibrary: ErrLibrary,
	child.ClassAddress: ErrAddress,
	child.ClassLocked:  ErrLocked,
	child.ClassFolder:  ErrFolder,
}

// startError is what a child said instead of its address, nil when it serves.
func startError(r child.Ready) error {
	class := classes[r.Class]
	switch {
	case r.Addr != "":
		return nil
	case r.Class == child.ClassFolder:
		return fmt.Errorf("%w: %s (should it be damaged: move it away, and the warehouse is rebuilt from the event log)", class, r.Error)
	case class != nil:
		return fmt.Errorf("%w: %s", class, r.Error)
	case r.Error != "":
		return errors.New(r.Error)
	default:
		return errors.New("the process ended without a word")
	}
}
