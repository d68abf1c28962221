package front

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"
)

// pipe is a named pipe that the engine writes an answer to. Both ends are opened here: the reader so that the engine
// finds one, the writer so that the reader sees the end only when the statement is over, opened by the engine or not.
type pipe struct {
	path   string
	reader *os.File
	writer *os.File
}

func newPipe(dir string) (*pipe, error) {
	p := &pipe{path: filepath.Join(dir, "out-"+uuid.NewString())}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	var err error
	if p.reader, err = os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		p.writer, err = os.OpenFile(p.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a pipe: %w", err), p.close())
	}
	widen(p.reader)
	return p, nil
}

// end lets the reader come to its end once it has read what is in the pipe.
func (p *pipe) end() error { return p.writer.Close() }

func (p *pipe) close() error {
	var errs []error
	for _, f := range []*os.File{p.reader, p.writer} {
		if f != nil {
			if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, os.Remove(p.path))...)
}
