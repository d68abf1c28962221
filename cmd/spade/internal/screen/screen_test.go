package screen_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, line, lines string }{
		{"plain", "plain text, 文字 and 👩‍👧", "plain text, 文字 and 👩‍👧", "plain text, 文字 and 👩‍👧"},
		{"colours", "\x1b[31mred", `\x1b[31mred`, `\x1b[31mred`},
		{"title", "\x1b]0;x\a", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		{"C1", "a\u009b2Jb", `a\u{9b}2Jb`, `a\u{9b}2Jb`},
		{"lines", "a\r\nb\tc\n", `a\r\nb\tc\n`, "a\nb\tc\n"},
		{"lone carriage return", "good\rbad", `good\rbad`, `good\rbad`},
		{"bidirectional override", "a\u202eb", `a\u{202e}b`, `a\u{202e}b`},
		{"zero width", "a\u200bb\u2028", `a\u{200b}b\u{2028}`, `a\u{200b}b\u{2028}`},
		{"invalid UTF-8", "a\xff\xfeb", `a\xff\xfeb`, `a\xff\xfeb`},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`, `\x00\x7f`},
	} {
		if got := screen.Escape(c.in); got != c.line {
			t.Errorf("%s: Escape gives %q, want %q", c.name, got, c.line)
		}
		if got := screen.EscapeLines(c.in); got != c.lines {
			t.Errorf("%s: EscapeLines gives %q, want %q", c.name, got, c.lines)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, in string) {
		out := screen.EscapeLines(in)
		for _, r := range out {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e') {
				t.Fatalf("%q became %q", in, out)
			}
		}
		if strings.ContainsAny(screen.Escape(in), "\n\t\r\x1b") {
			t.Fatalf("%q: not one line", in)
		}
	})
}

func TestFitAndPad(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too …"},
		{"文字文字", 5, "文字…"},
		{"文字文字", 6, "文字…"},
		{"x", 0, ""},
		{"👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"},
	} {
		if got := screen.Fit(c.in, c.columns); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
	if got := screen.Pad("文", 4, true); got != "  文" {
		t.Errorf("%q", got)
	}
}

func TestTable(t *testing.T) {
	table := screen.NewTable(screen.Column{Title: "NAME", Max: 8}, screen.Column{Title: "COUNT", Right: true}, screen.Column{Title: "NOTE"})
	table.Add("first", 12, "ok")
	table.Add("文字", 3)
	table.Add("a very long name", "1,000", "bad\x1b[2J\n")
	var out bytes.Buffer
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "NAME      COUNT  NOTE\n" +
		"first        12  ok\n" +
		"文字          3\n" +
		"a very …  1,000  bad\\x1b[2J\\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
