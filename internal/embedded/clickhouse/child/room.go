package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The engine does not look at what its writes return: on a full disk it makes tables without a definition and parts with
// empty files, says that all went well, and cannot read them afterwards. So nothing is written while there is next to no
// room, what was written while the room ran out counts as failed, and once there is room again the engine starts anew: it
// puts broken parts aside when it opens its folder, and takes back the ones that a broken merge was made of.

const (
	// reserve is the room below which the disk counts as full.
	reserve = 16 << 20
	// again is the room with which the engine starts anew.
	again = 2 * reserve
	// lookEvery is how often the room is looked at. What fills and empties a disk within it is not seen.
	lookEvery = 50 * time.Millisecond
)

// errRoom ends a process whose disk was full and no longer is.
var errRoom = errors.New("there is room on the disk again")

// room is how much room the engine's folder has.
type room struct {
	dir  string
	log  *slog.Logger
	free func(dir string) (int64, error)
	was  atomic.Bool // the disk was full since the process began
}

func newRoom(dir string, log *slog.Logger) *room { return &room{dir: dir, log: log, free: freeBytes} }

// check says why nothing can be written now; nil where something can.
func (r *room) check() error {
	free, err := r.free(r.dir)
	if err != nil {
		return nil // the engine will say what is wrong with the folder
	}
	if free < reserve && r.was.CompareAndSwap(false, true) {
		r.log.Warn("the disk is full: nothing is written until there is room", "free_bytes", free)
	}
	if !r.was.Load() {
		return nil
	}
	return fmt.Errorf("the disk was full: %d bytes are free below %s, %d are waited for", free, r.dir, int64(again))
}

// watch looks until ctx ends, or there is room again after there was none: then it calls end.
func (r *room) watch(ctx context.Context, end func(error)) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if r.check() == nil {
			continue
		}
		if free, err := r.free(r.dir); err == nil && free >= again {
			end(errRoom)
			return
		}
	}
}

func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
