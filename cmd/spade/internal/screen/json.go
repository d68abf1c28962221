package screen

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// JSONWriter writes JSON to w with the characters that Escape would not let through as JSON escapes of their own: the document
// stays what it was, and a terminal that shows it stays in order. Each Write must hold whole characters, as those of an
// encoding/json encoder do.
func JSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Write escapes what it is given. Outside of its texts a document is plain ASCII, so that nothing else can be met; control
// characters below the space are there between lines only, for encoding/json escapes them within a text.
func (j jsonWriter) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for rest := p; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r < ' ' || r == utf8.RuneError || !hostile(r):
			out = append(out, rest[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
