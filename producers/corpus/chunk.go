package corpus

import (
	"strings"
	"unicode/utf8"
)

// Boundary kinds in rising order of preference.
const (
	cutNone = iota
	cutSpace
	cutSentence
	cutLine
	cutParagraph
	cutHeading
)

// Split cuts a text into chunks of at most most bytes. Cuts lie at least least bytes after the one before and are made at
// the best boundary there: before a Markdown heading, after a paragraph, a line, a sentence, a word, or else between
// two runes. The chunks joined together are the text, and every chunk of valid UTF-8 is valid UTF-8. A text of up to
// most bytes is one chunk; an empty text has none.
func Split(text string, least, most int) []string {
	var chunks []string
	for len(text) > most {
		n := cut(text, least, most)
		chunks = append(chunks, text[:n])
		text = text[n:]
	}
	if text != "" {
		chunks = append(chunks, text)
	}
	return chunks
}

// cut is where the first chunk of a text that is longer than most ends. Among equally good boundaries the last one wins.
func cut(text string, least, most int) int {
	best, bestKind := 0, cutNone
	for i := max(least, 1); i <= most; i++ {
		if kind := boundary(text, i); kind > cutNone && kind >= bestKind {
			best, bestKind = i, kind
		}
	}
	if best > 0 {
		return best
	}
	return runeCut(text, most)
}

// boundary says what kind of boundary lies before byte i of the text, where 0 < i < len(text). White space belongs to
// the chunk before it: of several boundaries in a run of it the last one wins.
func boundary(text string, i int) int {
	prev, next := text[i-1], text[i]
	switch {
	case prev == '\n' && next == '#' && strings.HasSuffix(text[:i], "\n\n"):
		return cutHeading
	case strings.HasSuffix(text[:i], "\n\n"):
		return cutParagraph
	case prev == '\n':
		return cutLine
	case prev == ' ' && next != ' ' && i >= 2 && strings.IndexByte(".!?", text[i-2]) >= 0:
		return cutSentence
	case strings.HasSuffix(text[:i], "。"):
		return cutSentence
	case prev == ' ' && next != ' ':
		return cutSpace
	default:
		return cutNone
	}
}

// runeCut is the last rune boundary at or before most, or, in bytes that are no UTF-8, most itself.
func runeCut(text string, most int) int {
	for n := most; n > 0 && n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return most
}
