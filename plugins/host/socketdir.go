package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	socketDirPattern = "spade-plugin-"
	// maxSocketBase leaves room for the names below it: a unix socket's path has at most 104 bytes on some systems.
	maxSocketBase = 104 - len("/spade-plugin-4294967295/plugin-dir4294967295/plugin4294967295") - 1
)

// socketDir is a folder for one plugin's socket, locked while its host lives.
type socketDir struct {
	path string
	lock *os.File
}

// makeSocketDir removes what killed hosts left behind and makes a new folder that only we may enter.
func makeSocketDir(base string) (*socketDir, error) {
	if len(base) > maxSocketBase {
		return nil, fmt.Errorf("%w: socket folder %q is longer than %d bytes, too long for a unix socket below it", ErrConfig, base, maxSocketBase)
	}
	if err := removeStale(base); err != nil {
		return nil, err
	}
	for range socketDirTries {
		d, err := lockedDir(base)
		if err != nil || d != nil {
			return d, err
		}
	}
	return nil, fmt.Errorf("make socket folder in %s: others remove it again and again", base)
}

// socketDirTries is how often a folder may be taken for a dead host's before it is locked.
const socketDirTries = 100

// lockedDir makes a folder and locks it. It returns nil when another host, which starts at the same time, saw the lock file
// before it was locked and removed the folder.
func lockedDir(base string) (*socketDir, error) {
	path, err := os.MkdirTemp(base, socketDirPattern)
	if err != nil {
		return nil, fmt.Errorf("make socket folder: %w", err)
	}
	name := filepath.Join(path, "lock")
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock socket folder: %w", err), os.RemoveAll(path))
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	there, gone := os.Stat(name)
	ours, statErr := lock.Stat()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(gone, os.ErrNotExist) {
		return nil, errors.Join(lock.Close(), os.RemoveAll(path))
	}
	if err = errors.Join(err, gone, statErr); err != nil {
		return nil, errors.Join(fmt.Errorf("lock socket folder: %w", err), lock.Close(), os.RemoveAll(path))
	}
	if !os.SameFile(there, ours) {
		return nil, lock.Close()
	}
	return &socketDir{path: path, lock: lock}, nil
}

func (d *socketDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

func removeStale(base string) error {
	found, err := filepath.Glob(filepath.Join(base, socketDirPattern+"*"))
	if err != nil {
		return fmt.Errorf("list socket folders: %w", err)
	}
	for _, path := range found {
		// A folder without a lock file is one that is being made, or somebody else's: leave it.
		lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(path)
		}
		_ = lock.Close()
	}
	return nil
}
