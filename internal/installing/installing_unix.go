//go:build unix

package installing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// retryEvery is the pause between two tries for a lock that another process holds.
const retryEvery = 200 * time.Millisecond

// Lock takes the file lock at path. While another installer holds it, Lock waits, having called waiting once. The kernel
// drops the lock when its process dies.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the install lock: %w", err)
	}
	told := false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing drops the lock
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("take the install lock: %w", err), f.Close())
		}
		if !told {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for another installer: %w", context.Cause(ctx)), f.Close())
		case <-time.After(retryEvery):
		}
	}
}

// FreeBytes is the room in the file system of dir. Known is false where the file system does not say.
func FreeBytes(dir string) (free int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true //nolint:gosec,unconvert // the field types differ by platform
}
