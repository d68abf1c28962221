package oplog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// Log is an open log. One goroutine may append while others read: ReadAt is
// safe beside everything but Close.
type Log struct {
	path string
	file *os.File
	size int64
	err  error // why no more can be written, nil while all is well
}

// Open opens the log at path, creating it when there is none, and passes every
// record to fn in order; the body is valid only during the call, and offset is
// where ReadAt finds it again. A torn tail is cut off with a warning. A damaged
// file gives *DamagedError and stays as it is.
func Open(path string, logger *slog.Logger, fn func(offset int64, body []byte) error) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l := &Log{path: path, file: f}
	if err := l.recover(logger, fn); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Log) recover(logger *slog.Logger, fn func(int64, []byte) error) error {
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("stat log: %w", err)
	}
	good, err := scan(io.NewSectionReader(l.file, 0, info.Size()), info.Size(), fn)
	var unsound unsoundError
	switch {
	case err == nil:
		l.size = good
		return nil
	case errors.As(err, &unsound):
		return &DamagedError{Path: l.path, Offset: good, Reason: unsound.Error()}
	case !errors.Is(err, errTorn):
		return fmt.Errorf("read log %s: %w", l.path, err)
	}
	if info.Size() > 0 {
		logger.Warn("cut the torn tail of a vector log", "path", l.path, "kept_bytes", good, "cut_bytes", info.Size()-good)
	}
	return l.cut(good)
}

// cut truncates to the sound part and writes the magic of an empty log.
func (l *Log) cut(good int64) error {
	if err := l.file.Truncate(good); err != nil {
		return fmt.Errorf("cut log: %w", err)
	}
	l.size = good
	if good == 0 {
		if _, err := l.file.WriteAt([]byte(magic), 0); err != nil {
			return fmt.Errorf("begin log: %w", err)
		}
		l.size = int64(len(magic))
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync log: %w", err)
	}
	return SyncDir(filepath.Dir(l.path))
}

// Append writes one record and returns the offset of its body. It is in the
// file when Append returns, so it outlives the process; Sync makes it outlive
// the machine. After an error nothing of the record is left in the log.
func (l *Log) Append(body []byte) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	if len(body) > maxBody {
		return 0, fmt.Errorf("append %d bytes: over the limit of %d", len(body), maxBody)
	}
	record := make([]byte, headerSize, headerSize+len(body))
	putHeader(record, body)
	record = append(record, body...)
	if _, err := l.file.WriteAt(record, l.size); err != nil {
		if terr := l.file.Truncate(l.size); terr != nil {
			l.err = fmt.Errorf("%w: %w", ErrUnusable, terr)
		}
		return 0, fmt.Errorf("append to log: %w", err)
	}
	at := l.size + headerSize
	l.size += int64(len(record))
	return at, nil
}

// Sync flushes what was appended to the disk. A failed flush leaves it unknown
// which pages are there, so the log takes no more writes after one.
func (l *Log) Sync() error {
	if l.err != nil {
		return l.err
	}
	if err := l.file.Sync(); err != nil {
		l.err = fmt.Errorf("%w: %w", ErrUnusable, err)
		return l.err
	}
	return nil
}

// ReadAt fills p from the file, as io.ReaderAt.
func (l *Log) ReadAt(p []byte, off int64) (int, error) { return l.file.ReadAt(p, off) }

// Size is the length of the log in bytes.
func (l *Log) Size() int64 { return l.size }

// Close flushes and closes the file.
func (l *Log) Close() error {
	var syncErr error
	if l.err == nil {
		syncErr = l.file.Sync()
	}
	return errors.Join(syncErr, l.file.Close())
}

// SyncDir makes a created or renamed file of a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
