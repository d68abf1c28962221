//go:build unix

package pools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile takes the file lock at path, waiting for another installer. The kernel drops it when its process dies.
func lockFile(ctx context.Context, path string, progress io.Writer) (unlock func(), err error) {
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
			_, _ = fmt.Fprintln(progress, "another process is installing it: waiting")
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for another installer: %w", context.Cause(ctx)), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// checkSpace fails with ErrDiskFull when the file system of dir has no room for the set, what is fetched and the
// virtual environment that installs it.
func checkSpace(dir string, s set) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil // a file system that does not say: pip will find out
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // the field types differ by platform
	need := int64(s.fetched+s.installed+50) << 20
	if free < need {
		return fmt.Errorf("%w: %s needs %d MB in %s, which has %d MB free (set SPADE_CACHE to another folder)",
			ErrDiskFull, s.name, need>>20, dir, free>>20)
	}
	return nil
}
