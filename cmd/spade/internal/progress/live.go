package progress

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Live owns the bottom lines of a terminal. It is safe for concurrent use.
type Live struct {
	out  io.Writer
	size func() (columns, rows int)

	mu      sync.Mutex // guards the following
	drawn   []string   // lines that stand on the screen
	pending []byte     // text of Write that ends in no line feed yet
}

// NewLive draws on out, whose size is asked before each frame because a window can be resized at any time.
func NewLive(out io.Writer, size func() (columns, rows int)) *Live {
	return &Live{out: out, size: size}
}

// Control sequences. A synchronised update (2026) shows a frame at once on terminals that know it and is ignored by others.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	eraseRest  = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// Draw replaces the lines on the screen. Lines that did not change are not written again. Each is cut to the width.
func (l *Live) Draw(lines []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draw(nil, lines)
}

// draw writes text above the lines and then the lines.
func (l *Live) draw(above []byte, lines []string) error {
	columns, rows := l.size()
	lines = fitAll(lines, columns, rows)
	var b bytes.Buffer
	b.WriteString(beginFrame)
	b.WriteString(hideCursor)
	up := l.height(columns)
	if up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	// A narrower window has wrapped the lines, and more or fewer lines stand elsewhere: then nothing can be kept.
	if up != len(l.drawn) || len(lines) != len(l.drawn) || len(above) > 0 {
		b.WriteString(eraseBelow)
		l.drawn = nil
	}
	b.Write(above)
	for i, line := range lines {
		if i >= len(l.drawn) || l.drawn[i] != line {
			b.WriteString(line + eraseRest)
		}
		b.WriteString("\r\n")
	}
	b.WriteString(endFrame)
	l.drawn = lines
	_, err := l.out.Write(b.Bytes())
	return err
}

// height is how many rows of the screen the drawn lines take at a width.
func (l *Live) height(columns int) int {
	rows := 0
	for _, line := range l.drawn {
		rows += max(1, (screen.Width(plain(line))+columns-1)/columns)
	}
	return rows
}

// Write lets text pass above the lines, whole lines at a time: a logger can be given the Live.
func (l *Live) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, text...)
	end := bytes.LastIndexByte(l.pending, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	above := bytes.ReplaceAll(l.pending[:end], []byte("\n"), []byte(eraseRest+"\r\n"))
	if err := l.draw(above, l.drawn); err != nil {
		return 0, err
	}
	l.pending = append([]byte(nil), l.pending[end:]...)
	return len(text), nil
}

// Close erases the lines, or leaves them for good, and shows the cursor again. A later Draw begins below.
func (l *Live) Close(keep bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if !keep && len(l.drawn) > 0 {
		err = l.draw(nil, nil)
	}
	l.drawn = nil
	if len(l.pending) > 0 {
		fmt.Fprintf(l.out, "%s\r\n", l.pending)
		l.pending = nil
	}
	if _, werr := io.WriteString(l.out, showCursor); err == nil {
		err = werr
	}
	return err
}

// fitAll cuts lines to the screen: the last columns and row stay free, so that nothing wraps or scrolls.
func fitAll(lines []string, columns, rows int) []string {
	if limit := max(1, rows-1); len(lines) > limit {
		lines = lines[:limit]
	}
	fitted := make([]string, len(lines))
	for i, line := range lines {
		fitted[i] = fit(line, columns-1)
	}
	return fitted
}

// fit cuts a line that may hold colours; a line that must be cut loses them.
func fit(line string, columns int) string {
	text := plain(line)
	if screen.Width(text) <= columns {
		return line
	}
	return screen.Fit(text, columns)
}

// plain is a line without its colours.
func plain(line string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, line, _ = strings.Cut(after, "m")
	}
}
