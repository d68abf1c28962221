package front

import (
	"bytes"
	"io"
)

// trimmer drops the semicolon and blanks that may end the rows of INSERT … VALUES, which the engine takes for data.
type trimmer struct {
	in   io.Reader
	tail []byte // blanks and semicolons that were read and may be the last
	next []byte // to be handed out
	err  error
}

func (t *trimmer) Read(p []byte) (int, error) {
	for len(t.next) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		buf := make([]byte, 64<<10)
		n, err := t.in.Read(buf)
		t.err = err
		all := append(t.tail, buf[:n]...)
		kept := bytes.TrimRight(all, " \t\r\n;")
		t.next, t.tail = kept, append([]byte(nil), all[len(kept):]...)
	}
	n := copy(p, t.next)
	t.next = t.next[n:]
	return n, nil
}
