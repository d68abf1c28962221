package screen

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Style writes text in colours, or plainly. The zero Style is plain.
type Style struct{ Colour bool }

// Dim is for what matters less.
func (s Style) Dim(text string) string { return s.wrap("2", text) }

// Bold is for what matters most.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Good is for what went well.
func (s Style) Good(text string) string { return s.wrap("32", text) }

// Warn is for what may need a look.
func (s Style) Warn(text string) string { return s.wrap("33", text) }

// Bad is for what failed.
func (s Style) Bad(text string) string { return s.wrap("31", text) }

// Accent is for bars and the like.
func (s Style) Accent(text string) string { return s.wrap("36", text) }

func (s Style) wrap(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// IsTerminal reports whether a stream is a terminal that understands cursor movement.
func IsTerminal(stream any, environ func(string) string) bool {
	f, ok := stream.(*os.File)
	return ok && environ("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// StyleOf is colourful on a terminal unless NO_COLOR is set to anything.
func StyleOf(w io.Writer, environ func(string) string) Style {
	return Style{Colour: IsTerminal(w, environ) && environ("NO_COLOR") == ""}
}

// Size is the terminal's columns and rows, or 80 by 24 where that cannot be told.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		if c, r, err := term.GetSize(int(f.Fd())); err == nil && c > 0 && r > 0 {
			return c, r
		}
	}
	return 80, 24
}
