package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxLog bounds a log file; the one before it is kept as name.1.
const maxLog = 4 << 20

// LogFile is a file in the logs folder that never grows past its bound. Its
// methods may be called concurrently.
type LogFile struct {
	path  string
	limit int64

	mu   sync.Mutex // guards the following
	file *os.File
	size int64
}

// OpenLog opens a log for appending.
func (f Folder) OpenLog(name string) (*LogFile, error) {
	l := &LogFile{path: filepath.Join(f.Logs(), name), limit: maxLog}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *LogFile) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return diskError("open log", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open log: %w", err), file.Close())
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Write appends a line, turning the file over first when it is full.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit {
		if err := l.turn(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *LogFile) turn() error {
	err := l.file.Close()
	if renameErr := os.Rename(l.path, l.path+".1"); !errors.Is(renameErr, fs.ErrNotExist) {
		err = errors.Join(err, renameErr)
	}
	return errors.Join(err, l.open())
}

// Close closes the file.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
