package sqlguard

import (
	"errors"
	"strings"
)

// Insert is an INSERT whose rows follow its text.
type Insert struct {
	// Head is the statement without FORMAT and data, such as "INSERT INTO t (a) SETTINGS async_insert = 0".
	Head string
	// Format is that of the data: the one named, or Values.
	Format string
	// Data is the offset in the text at which the data begins.
	Data int
}

// Errors of ParseInsert.
var (
	// ErrNotInsert: the text is no INSERT with data; it may be an INSERT … SELECT.
	ErrNotInsert = errors.New("not an INSERT with data")
	// ErrShort: the text was cut before the data; give more of it.
	ErrShort = errors.New("the INSERT goes on")
	// ErrInFile: FROM INFILE reads a file of the server.
	ErrInFile = errors.New("FROM INFILE is not allowed")
)

// ParseInsert reads the head of an INSERT from the beginning of a request, whose data may be binary. complete says
// whether text is all there is.
func ParseInsert(text string, complete bool) (Insert, error) {
	r := insertReader{lexer: lexer{src: text}, complete: complete}
	in, err := r.read()
	if err == nil || errors.Is(err, ErrNotInsert) || errors.Is(err, ErrInFile) {
		return in, err
	}
	if !complete {
		return Insert{}, ErrShort
	}
	return Insert{}, err
}

type insertReader struct {
	lexer
	complete bool
	last     token // the token before the current one
}

// read finds what ends the head: FORMAT, VALUES, or the end.
func (r *insertReader) read() (Insert, error) {
	if err := r.open(); err != nil {
		return Insert{}, err
	}
	depth := 0
	for {
		before := r.last.end
		t, ok, err := r.advance()
		if err != nil {
			return Insert{}, err
		}
		if !ok {
			return r.atEnd(before)
		}
		switch s := strings.ToUpper(r.src[t.start:t.end]); {
		case t.kind == punct && s == "(":
			depth++
		case t.kind == punct && s == ")":
			depth--
		case t.kind == punct && s == ";":
			return Insert{}, ErrNotInsert
		case t.kind != word:
		case s == "SELECT" || s == "WITH" || s == "WATCH": // within parentheses as well: INSERT INTO t (SELECT …)
			return Insert{}, ErrNotInsert
		case depth > 0:
		case s == "INFILE":
			return Insert{}, ErrInFile
		case s == "VALUES":
			return Insert{Head: r.src[:before], Format: "Values", Data: t.end}, nil
		case s == "FORMAT":
			return r.format(before)
		}
	}
}

// open passes INSERT INTO and the name of the table, which may itself be a keyword.
func (r *insertReader) open() error {
	for _, want := range []string{"INSERT", "INTO"} {
		t, ok, err := r.advance()
		switch {
		case err != nil:
			return err
		case !ok && !r.complete:
			return ErrShort
		case !ok || t.kind != word || !strings.EqualFold(r.src[t.start:t.end], want):
			return ErrNotInsert
		}
	}
	for {
		t, ok, err := r.advance()
		if err != nil || !ok {
			return errors.Join(err, ErrShort)
		}
		s := r.src[t.start:t.end]
		if t.kind == word && (strings.EqualFold(s, "TABLE") || strings.EqualFold(s, "FUNCTION")) && r.peek() != '(' && r.peek() != '.' {
			continue
		}
		if r.peek() != '.' {
			return nil
		}
		if _, _, err := r.advance(); err != nil { // the dot
			return err
		}
	}
}

// format reads the name behind FORMAT; the data begins behind the line's end, or the blanks, that follow it.
func (r *insertReader) format(head int) (Insert, error) {
	t, ok, err := r.advance()
	if err != nil {
		return Insert{}, err
	}
	if !ok || t.kind != word {
		return Insert{}, ErrShort
	}
	i := t.end
	for i < len(r.src) && (r.src[i] == ' ' || r.src[i] == '\t' || r.src[i] == '\f') {
		i++
	}
	if i+1 >= len(r.src) && !r.complete {
		return Insert{}, ErrShort
	}
	if i < len(r.src) && r.src[i] == '\r' {
		i++
	}
	if i < len(r.src) && r.src[i] == '\n' {
		i++
	}
	return Insert{Head: r.src[:head], Format: r.src[t.start:t.end], Data: i}, nil
}

func (r *insertReader) atEnd(head int) (Insert, error) {
	if !r.complete {
		return Insert{}, ErrShort
	}
	return Insert{Head: r.src[:head], Format: "Values", Data: len(r.src)}, nil
}

// advance reads a token. One that touches the end of a text that goes on may itself go on.
func (r *insertReader) advance() (token, bool, error) {
	t, ok, err := r.next()
	if ok && t.end == len(r.src) && !r.complete {
		return token{}, false, ErrShort
	}
	if ok {
		r.last = t
	}
	return t, ok, err
}

// peek is the byte at which the next token begins, 0 at the end.
func (r *insertReader) peek() byte {
	ahead := r.lexer
	if ahead.skip() != nil || ahead.pos >= len(ahead.src) {
		return 0
	}
	return ahead.src[ahead.pos]
}
