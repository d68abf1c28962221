package corpus

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle bounds a title, in bytes. It is a label; nothing is lost by cutting it, since the text holds it too.
const maxTitle = 200

// normalise makes the text whose hash names a document: without a byte order mark, with line feeds only, without white
// space at both ends.
func normalise(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return strings.TrimSpace(text)
}

// checkText finds out why bytes are no text, or returns a class and a cause of nil.
func checkText(data []byte) (class, cause error) {
	switch {
	case len(data) == 0:
		return ErrEmpty, nil
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return ErrEncoding, errors.New("begins like UTF-16; convert it to UTF-8 first")
	case bytes.IndexByte(data, 0) >= 0:
		return ErrBinary, errors.New("it has a zero byte")
	case !utf8.Valid(data):
		return ErrEncoding, nil
	default:
		return nil, nil
	}
}

// markdownTitle is the title in a Markdown text's front matter, or else its first heading outside a fenced block.
func markdownTitle(text string) string {
	title, text := frontMatter(text)
	if title != "" {
		return title
	}
	fence, last := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
			line = ""
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence, line = line[:3], ""
		case underline(line) && last != "":
			return last
		}
		if title, ok := atxHeading(line); ok {
			return title
		}
		last = line
	}
	return ""
}

// frontMatter is the title in the YAML block that a text may begin with, and the text after the block.
func frontMatter(text string) (title, rest string) {
	body, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text
	}
	block, rest, ok := strings.Cut(body, "\n---\n")
	if !ok {
		return "", text
	}
	for line := range strings.Lines(block) {
		if value, ok := strings.CutPrefix(line, "title:"); ok {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return title, rest
}

// atxHeading is the text of a line such as "## Title ##" or "## Title {#anchor}".
func atxHeading(line string) (string, bool) {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level < 1 || level > 6 || rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
		return "", false
	}
	title := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
	if i := strings.LastIndex(title, "{#"); i > 0 && strings.HasSuffix(title, "}") {
		title = strings.TrimSpace(title[:i]) // an anchor such as {#water}
	}
	return title, title != ""
}

// underline reports whether a line underlines a heading: only "=" or, at least three, only "-".
func underline(line string) bool {
	return line != "" && strings.Trim(line, "=") == "" || len(line) > 2 && strings.Trim(line, "-") == ""
}

// firstWords is the title of a text that has none: its first line that is not blank, without the mark of a heading. A
// file's name is no title, because the same text under another name is the same document.
func firstWords(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if title, ok := atxHeading(strings.TrimSpace(line)); ok {
		return title
	}
	return line
}

// cleanTitle makes a title one line of at most maxTitle bytes. Titles outlive their texts in an Index, so what is
// returned keeps no part of a longer string in memory.
func cleanTitle(title string) string {
	if enough := 8 * maxTitle; len(title) > enough {
		title = title[:runeCut(title, enough)]
	}
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(title) <= maxTitle {
		return title
	}
	cut := title[:runeCut(title, maxTitle)]
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.Clone(cut)
}
