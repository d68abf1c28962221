package sqlguard

import (
	"errors"
	"fmt"
	"strings"
)

// kind is what sort of token it is.
type kind uint8

const (
	word    kind = iota // a bare word or number: letters, digits, _ and $
	quoted              // an identifier in double quotes or backticks
	literal             // a string: '…' or $tag$…$tag$
	punct               // one byte of punctuation
	other               // a byte that has no place outside quotes
)

// token is one piece of a statement; comments and white space are not tokens.
type token struct {
	kind       kind
	start, end int // of the source
}

// errUnclosed: the text ends inside a quote or a comment.
var errUnclosed = errors.New("the text ends inside a quote or comment")

// lexer walks over src as ClickHouse's own lexer does.
type lexer struct {
	src string
	pos int
}

// next returns the next token; ok is false at the end.
func (l *lexer) next() (t token, ok bool, err error) {
	if err := l.skip(); err != nil || l.pos >= len(l.src) {
		return token{}, false, err
	}
	start := l.pos
	switch c := l.src[l.pos]; {
	case c == '\'':
		err = l.quote('\'')
		t.kind = literal
	case c == '"' || c == '`':
		err = l.quote(c)
		t.kind = quoted
	case c == '$':
		t.kind = l.dollar()
	case isWord(c):
		l.word()
		t.kind = word
	case strings.IndexByte("()[]{},;.*+-/%=<>!|:?@^~&", c) >= 0:
		l.pos++
		t.kind = punct
	default:
		l.pos++
		t.kind = other
	}
	t.start, t.end = start, l.pos
	return t, err == nil, err
}

// skip passes white space and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.IndexByte(" \t\n\r\f\v", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest) - 1
			}
			l.pos += end + 1
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return fmt.Errorf("%w: a comment that begins at byte %d", errUnclosed, l.pos)
			}
			l.pos += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

// quote passes a quoted text, in which a backslash escapes and a doubled quote stands for one.
func (l *lexer) quote(q byte) error {
	start := l.pos
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case '\\':
			l.pos++
		case q:
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == q {
				l.pos++
				continue
			}
			l.pos++
			return nil
		}
	}
	l.pos = min(l.pos, len(l.src))
	return fmt.Errorf("%w: a quote that begins at byte %d", errUnclosed, start)
}

// dollar passes $tag$…$tag$ when there is one, else the one byte.
func (l *lexer) dollar() kind {
	rest := l.src[l.pos:]
	size := 1
	for size < len(rest) && isWord(rest[size]) {
		size++
	}
	if size < len(rest) && rest[size] == '$' {
		tag := rest[:size+1]
		if end := strings.Index(rest[len(tag):], tag); end >= 0 {
			l.pos += len(tag) + end + len(tag)
			return literal
		}
	}
	l.pos++
	return other
}

// word passes a bare word. One that begins like a number takes no $, so that a heredoc behind a number is seen.
func (l *lexer) word() {
	number := l.src[l.pos] >= '0' && l.src[l.pos] <= '9'
	for l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] == '$' && !number) {
		l.pos++
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// tokens reads the whole of src.
func tokens(src string) ([]token, error) {
	l := lexer{src: src}
	var all []token
	for {
		t, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return all, nil
		}
		all = append(all, t)
	}
}
