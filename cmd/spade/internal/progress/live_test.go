package progress

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// emulator is as much of a terminal as the live picture uses; it fails the test on any other control sequence.
type emulator struct {
	t             *testing.T
	columns, rows int
	lines         [][]rune
	row, column   int
	hidden        bool
}

func newEmulator(t *testing.T, columns, rows int) *emulator {
	return &emulator{t: t, columns: columns, rows: rows, lines: [][]rune{nil}}
}

func (e *emulator) size() (int, int) { return e.columns, e.rows }

func (e *emulator) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' })
			e.control(rest[:end+1])
			text = rest[end+1:]
			continue
		}
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		text = rest
		e.put(cluster, width)
	}
	return len(p), nil
}

func (e *emulator) put(cluster string, width int) {
	switch cluster {
	case "\r\n":
		e.column = 0
		e.down()
	case "\r":
		e.column = 0
	case "\n":
		e.down()
	default:
		if e.column+width > e.columns {
			e.column = 0
			e.down()
		}
		line := e.lines[e.row]
		for len(line) < e.column+width {
			line = append(line, ' ')
		}
		line[e.column] = []rune(cluster)[0]
		e.lines[e.row] = line
		e.column += width
	}
}

func (e *emulator) down() {
	e.row++
	for len(e.lines) <= e.row {
		e.lines = append(e.lines, nil)
	}
}

func (e *emulator) control(seq string) {
	switch {
	case seq == "?2026h" || seq == "?2026l" || strings.HasSuffix(seq, "m"):
	case seq == "?25l":
		e.hidden = true
	case seq == "?25h":
		e.hidden = false
	case seq == "K":
		e.lines[e.row] = e.lines[e.row][:min(e.column, len(e.lines[e.row]))]
	case seq == "J":
		e.lines[e.row] = e.lines[e.row][:min(e.column, len(e.lines[e.row]))]
		e.lines = e.lines[:e.row+1]
	case strings.HasSuffix(seq, "A"):
		var n int
		if _, err := fmt.Sscanf(seq, "%dA", &n); err != nil || n > e.row {
			e.t.Fatalf("moves up %q from row %d", seq, e.row)
		}
		e.row -= n
	default:
		e.t.Fatalf("unexpected control sequence %q", seq)
	}
}

// resize reflows what stands on the screen, as terminals do.
func (e *emulator) resize(columns int) {
	var lines [][]rune
	for i, line := range e.lines {
		if i == e.row {
			e.row = len(lines)
		}
		for len(line) > columns {
			lines = append(lines, line[:columns])
			line = line[columns:]
		}
		lines = append(lines, line)
	}
	e.lines, e.columns = lines, columns
}

func (e *emulator) String() string {
	var b strings.Builder
	for _, line := range e.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestLiveRedrawsInPlace(t *testing.T) {
	e := newEmulator(t, 40, 10)
	l := NewLive(e, e.size)
	draw := func(want string, lines ...string) {
		t.Helper()
		if err := l.Draw(lines); err != nil {
			t.Fatal(err)
		}
		if got := e.String(); got != want {
			t.Errorf("screen:\n%s\nwant:\n%s", got, want)
		}
	}
	draw("one\ntwo", "one", "two")
	draw("one\nt", "one", "t")
	draw("one\nt\nthree", "one", "t", "three")
	draw("x", "x")
	if !e.hidden {
		t.Error("the cursor is shown while the picture is live")
	}
	fmt.Fprint(l, "half a ")
	draw("x", "x")
	fmt.Fprint(l, "log line\nand an")
	draw("half a log line\nx", "x")
	if err := l.Close(true); err != nil {
		t.Fatal(err)
	}
	if got := e.String(); got != "half a log line\nx\nand an" {
		t.Errorf("after close:\n%s", got)
	}
	if e.hidden {
		t.Error("the cursor stays hidden")
	}
}

func TestLiveSurvivesResizes(t *testing.T) {
	e := newEmulator(t, 40, 10)
	l := NewLive(e, e.size)
	lines := []string{strings.Repeat("a", 39), "b"}
	for _, columns := range []int{40, 15, 12, 60, 33} {
		e.resize(columns)
		if err := l.Draw(lines); err != nil {
			t.Fatal(err)
		}
		if got := len(strings.Split(e.String(), "\n")); got != 2 {
			t.Errorf("%d columns: %d lines:\n%s", columns, got, e)
		}
	}
}

func TestLiveNeverWrapsOrScrolls(t *testing.T) {
	e := newEmulator(t, 20, 4)
	l := NewLive(e, e.size)
	wide := "环境记忆" + strings.Repeat("👩‍👩‍👧x", 12)
	if err := l.Draw([]string{wide, "\x1b[31m" + strings.Repeat("y", 30) + "\x1b[0m", "3", "4", "5"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(e.String(), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines on a screen of 4 rows:\n%s", len(lines), e)
	}
	if !strings.HasSuffix(lines[0], "…") || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("cut lines do not say so:\n%s", e)
	}
}

func TestUnchangedLinesAreNotWrittenAgain(t *testing.T) {
	var out bytes.Buffer
	l := NewLive(&out, func() (int, int) { return 80, 24 })
	lines := []string{"steady", "moving 1"}
	if err := l.Draw(lines); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := l.Draw([]string{"steady", "moving 2"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "steady") || strings.Contains(out.String(), eraseBelow) {
		t.Errorf("flickers: %q", out.String())
	}
}
