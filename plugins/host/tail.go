package host

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
)

const (
	tailLines = 20
	tailWidth = 500 // bytes kept of one line
)

// tail is an io.Writer that keeps the last lines. Control characters are escaped: the lines end up on a terminal.
type tail struct {
	mu    sync.Mutex // guards the following
	lines []string
	part  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line, rest, found := bytes.Cut(p, []byte{'\n'})
		if room := tailWidth - len(t.part); room > 0 {
			t.part = append(t.part, line[:min(room, len(line))]...)
		}
		if found {
			t.push()
		}
		p = rest
	}
	return n, nil
}

func (t *tail) push() {
	if s := strings.TrimRight(string(t.part), "\r "); s != "" {
		t.lines = append(t.lines, printable(s))
	}
	t.part = t.part[:0]
	if len(t.lines) > tailLines {
		t.lines = append(t.lines[:0], t.lines[len(t.lines)-tailLines:]...)
	}
}

// Lines returns the last lines, an unfinished one included.
func (t *tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.push()
	}
	return append([]string(nil), t.lines...)
}

func printable(s string) string {
	q := strconv.Quote(s)
	q = q[1 : len(q)-1]
	return strings.NewReplacer(`\"`, `"`, `\t`, "  ", `\\`, `\`).Replace(q)
}
