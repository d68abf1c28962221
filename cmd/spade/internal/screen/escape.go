package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text safe to print on one line: whatever could move the cursor, change colours, reorder or hide text is
// written as an escape sequence instead.
func Escape(text string) string { return escape(text, "") }

// EscapeLines is Escape for text of several lines: line feeds and tabs stay.
func EscapeLines(text string) string { return escape(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t") }

func escape(text, keep string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return hostile(r) && !strings.ContainsRune(keep, r) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !hostile(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			b.WriteString(name(r))
		}
		i += size
	}
	return b.String()
}

func name(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r < 0x80 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// hostile runes are control characters, invisible formatting ones (bidirectional overrides, zero-width characters other
// than the joiner of emoji) and what is no character at all.
func hostile(r rune) bool {
	const zeroWidthJoiner = '\u200d'
	return r == utf8.RuneError || unicode.IsControl(r) || (unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
