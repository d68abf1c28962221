package corpus

import (
	"strings"
	"unicode"
)

// maxSource bounds a source that a record names, in bytes.
const maxSource = 1 << 10

// record is one row of a format whose files hold many documents.
type record struct {
	text, title, id, source string
}

// document makes a record's document, or nothing when it holds no text. place says where in the file it is and stands
// in for a missing id.
func (r record) document(file, place, mediaType string) (document, bool) {
	text := normalise(r.text)
	if text == "" {
		return document{}, false
	}
	id := cleanLabel(r.id)
	source := cleanLabel(withoutUserinfo(r.source))
	switch {
	case source == "" && id == "":
		source = file + "#" + place
	case source == "":
		source = file + "#" + id
	case id != "":
		source += "#" + id
	}
	return newDocument(source, r.title, text, mediaType), true
}

// withoutUserinfo takes user and password out of a source that is a URL: they must not reach the log. It is stricter than
// url.Parse, which refuses some URLs that have them.
func withoutUserinfo(source string) string {
	scheme, rest, ok := strings.Cut(source, "://")
	if !ok {
		return source
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}

// cleanLabel makes one line of at most maxSource bytes.
func cleanLabel(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
	if len(s) > maxSource {
		s = strings.Clone(s[:runeCut(s, maxSource)])
	}
	return s
}
