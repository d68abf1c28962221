package oplog

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// tempSuffix ends the name of a log that is being rewritten. One that a crash
// left behind is overwritten by the next rewrite.
const tempSuffix = ".new"

// Rewrite replaces the log at path by what fill appends, in one step: a crash
// leaves the old log or the new one, never a mix. The returned log is the new
// one, open; logs opened on the old file keep reading it until they are closed.
func Rewrite(path string, fill func(add func(body []byte) (int64, error)) error) (*Log, error) {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("rewrite log: %w", err)
	}
	l := &Log{path: path, file: f}
	if err := l.fill(fill); err != nil {
		return nil, errors.Join(fmt.Errorf("rewrite log: %w", err), f.Close(), os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, errors.Join(fmt.Errorf("rewrite log: %w", err), f.Close(), os.Remove(temp))
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Log) fill(fill func(add func(body []byte) (int64, error)) error) error {
	w := bufio.NewWriterSize(l.file, 1<<20)
	if _, err := w.WriteString(magic); err != nil {
		return err
	}
	l.size = int64(len(magic))
	add := func(body []byte) (int64, error) {
		var h [headerSize]byte
		putHeader(h[:], body)
		if _, err := w.Write(h[:]); err != nil {
			return 0, err
		}
		if _, err := w.Write(body); err != nil {
			return 0, err
		}
		at := l.size + headerSize
		l.size += headerSize + int64(len(body))
		return at, nil
	}
	if err := fill(add); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return l.file.Sync()
}
