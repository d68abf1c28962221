package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked: another supervisor holds the folder.
var ErrLocked = errors.New("the data folder is in use")

// Lock is the right to be a folder's supervisor. The kernel takes it back when
// the process ends, however it ends.
type Lock struct{ file *os.File }

type holder struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

// Lock takes the folder, or fails with ErrLocked naming who has it.
func (f Folder) Lock() (*Lock, error) {
	file, err := os.OpenFile(f.Sub(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, diskError("lock data folder", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		var h holder
		who := ""
		if json.NewDecoder(file).Decode(&h) == nil {
			who = fmt.Sprintf(" by process %d on %s", h.PID, h.Host)
		}
		err = fmt.Errorf("%w%s: %s: %w", ErrLocked, who, f.path, err)
		return nil, errors.Join(err, file.Close())
	}
	l := &Lock{file: file}
	if err := l.sign(); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// sign writes who holds the lock, for others' messages.
func (l *Lock) sign() error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	b, err := json.Marshal(holder{PID: os.Getpid(), Host: host})
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		_, err = l.file.WriteAt(append(b, '\n'), 0)
	}
	return diskError("lock data folder", err)
}

// Release gives the folder back.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("unlock data folder: %w", err)
	}
	return nil
}
