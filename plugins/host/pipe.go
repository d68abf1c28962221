package host

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// mostLate bounds what is read from a pipe after its deadline: as much as it can hold, unless it was made larger than usual.
const mostLate = 1 << 20

// pipe is the end of a pipe that one goroutine reads from. After its deadline it gives what it holds by then, and ends: the
// deadline is for those that hold it open, and is no reason to lose what was written before.
type pipe struct {
	file *os.File
	over bool // the deadline is
	late int  // what was read since
}

func (p *pipe) Read(b []byte) (int, error) {
	if !p.over {
		n, err := p.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.over = true
		_ = p.file.SetReadDeadline(time.Time{}) // after a deadline even what is there is not read
	}
	n := p.held(b[:min(len(b), mostLate-p.late)])
	if n <= 0 {
		return 0, io.EOF
	}
	p.late += n
	return n, nil
}

// held reads without waiting.
func (p *pipe) held(b []byte) (n int) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return true
	})
	return n
}

func (p *pipe) Close() error { return p.file.Close() }
