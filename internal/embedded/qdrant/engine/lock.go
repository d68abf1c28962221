package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// LockedError reports a folder that another process has open.
type LockedError struct {
	Dir string
	// Owner is the process id that the lock file names, 0 when it names none.
	Owner int
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("vector store %s is in use by process %d", e.Dir, e.Owner)
}

// lockDir takes the folder's lock. The kernel drops it when the process ends,
// however it ends, so no stale lock can be left.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock vector store: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(&LockedError{Dir: dir, Owner: readOwner(f)}, f.Close())
	}
	if err == nil {
		err = writeOwner(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock vector store: %w", err), f.Close())
	}
	return f, nil
}

func readOwner(f *os.File) int {
	buf := make([]byte, 20)
	n, err := f.ReadAt(buf, 0)
	if n == 0 && err != nil {
		return 0
	}
	owner, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return 0
	}
	return owner
}

func writeOwner(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
