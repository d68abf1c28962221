package interp

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// Decode reads strict JSON. Of equal keys the last value wins at the place of the first. Numbers without fraction and
// exponent are integers of at most 1000 digits, all others finite floats. NaN, Infinity, lone surrogates, raw control
// characters and nesting deeper than 64 are errors.
func Decode(s string) (starlark.Value, error) {
	if !utf8.ValidString(s) {
		return nil, errEncoding
	}
	d := jsonDecoder{s: s}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.i < len(s) {
		return nil, d.errorf("text after the value")
	}
	return v, nil
}

type jsonDecoder struct {
	s string
	i int
}

func (d *jsonDecoder) errorf(format string, args ...any) error {
	return fmt.Errorf("bad JSON at byte %d: %s", d.i, fmt.Sprintf(format, args...))
}

func (d *jsonDecoder) space() {
	for d.i < len(d.s) && strings.IndexByte(" \t\n\r", d.s[d.i]) >= 0 {
		d.i++
	}
}

// peek returns the next byte after white space, or 0 at the end.
func (d *jsonDecoder) peek() byte {
	d.space()
	if d.i == len(d.s) {
		return 0
	}
	return d.s[d.i]
}

func (d *jsonDecoder) value(depth int) (starlark.Value, error) {
	if depth > maxDepth {
		return nil, d.errorf("nested deeper than %d", maxDepth)
	}
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		s, err := d.text()
		return starlark.String(s), err
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	return d.word()
}

func (d *jsonDecoder) word() (starlark.Value, error) {
	rest := d.s[d.i:]
	switch {
	case strings.HasPrefix(rest, "null"):
		d.i += len("null")
		return starlark.None, nil
	case strings.HasPrefix(rest, "true"):
		d.i += len("true")
		return starlark.True, nil
	case strings.HasPrefix(rest, "false"):
		d.i += len("false")
		return starlark.False, nil
	}
	return nil, d.errorf("no value")
}

func (d *jsonDecoder) object(depth int) (starlark.Value, error) {
	d.i++
	dict := starlark.NewDict(4)
	if d.peek() == '}' {
		d.i++
		return dict, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.errorf("no key")
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if d.peek() != ':' {
			return nil, d.errorf("no colon")
		}
		d.i++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := dict.SetKey(starlark.String(key), v); err != nil {
			return nil, err
		}
		if done, err := d.next('}'); done || err != nil {
			return dict, err
		}
	}
}

func (d *jsonDecoder) array(depth int) (starlark.Value, error) {
	d.i++
	list := starlark.NewList(nil)
	if d.peek() == ']' {
		d.i++
		return list, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := list.Append(v); err != nil {
			return nil, err
		}
		if done, err := d.next(']'); done || err != nil {
			return list, err
		}
	}
}

// next takes a comma, or the closing bracket and says so.
func (d *jsonDecoder) next(closing byte) (done bool, err error) {
	switch d.peek() {
	case ',':
		d.i++
		return false, nil
	case closing:
		d.i++
		return true, nil
	}
	return false, d.errorf("neither a comma nor %q", closing)
}

func (d *jsonDecoder) digits() int {
	start := d.i
	for d.i < len(d.s) && d.s[d.i] >= '0' && d.s[d.i] <= '9' {
		d.i++
	}
	return d.i - start
}

func (d *jsonDecoder) accept(set string) bool {
	if d.i < len(d.s) && strings.IndexByte(set, d.s[d.i]) >= 0 {
		d.i++
		return true
	}
	return false
}

func (d *jsonDecoder) number() (starlark.Value, error) {
	start, isFloat := d.i, false
	d.accept("-")
	first := d.i
	n := d.digits()
	if n == 0 || n > 1 && d.s[first] == '0' {
		return nil, d.errorf("bad number")
	}
	if d.accept(".") {
		isFloat = true
		if d.digits() == 0 {
			return nil, d.errorf("no digits after the point")
		}
	}
	if d.accept("eE") {
		isFloat = true
		d.accept("+-")
		if d.digits() == 0 {
			return nil, d.errorf("no digits in the exponent")
		}
	}
	text := d.s[start:d.i]
	if isFloat {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, d.errorf("a number out of range")
		}
		return starlark.Float(f), nil
	}
	return d.integer(text, n)
}

func (d *jsonDecoder) integer(text string, digits int) (starlark.Value, error) {
	if digits > maxDigits {
		return nil, d.errorf("an integer of more than %d digits", maxDigits)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return starlark.MakeInt64(i), nil
	}
	b, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, d.errorf("bad integer")
	}
	return starlark.MakeBigInt(b), nil
}

// text reads a string; the opening quote is next.
func (d *jsonDecoder) text() (string, error) {
	d.i++
	start := d.i
	for d.i < len(d.s) {
		switch c := d.s[d.i]; {
		case c == '"':
			d.i++
			return d.s[start : d.i-1], nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.errorf("a raw control character")
		}
		d.i++
	}
	return "", d.errorf("no closing quote")
}

// escaped reads on where text meets the first escape.
func (d *jsonDecoder) escaped(start int) (string, error) {
	buf := []byte(d.s[start:d.i])
	for d.i < len(d.s) {
		c := d.s[d.i]
		d.i++
		switch {
		case c == '"':
			return string(buf), nil
		case c < ' ':
			return "", d.errorf("a raw control character")
		case c != '\\':
			buf = append(buf, c)
			continue
		}
		r, err := d.escape()
		if err != nil {
			return "", err
		}
		buf = utf8.AppendRune(buf, r)
	}
	return "", d.errorf("no closing quote")
}

// escape reads what follows a backslash.
func (d *jsonDecoder) escape() (rune, error) {
	if d.i == len(d.s) {
		return 0, d.errorf("no closing quote")
	}
	c := d.s[d.i]
	d.i++
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), nil
	}
	if c != 'u' {
		return 0, d.errorf("bad escape")
	}
	r, err := d.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(d.s[d.i:], `\u`) {
		d.i += 2
		low, err := d.hex()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, d.errorf("a lone surrogate")
}

func (d *jsonDecoder) hex() (rune, error) {
	if len(d.s)-d.i < 4 {
		return 0, d.errorf("bad escape")
	}
	v, err := strconv.ParseUint(d.s[d.i:d.i+4], 16, 16)
	if err != nil || strings.ContainsAny(d.s[d.i:d.i+4], "_+-") {
		return 0, d.errorf("bad escape")
	}
	d.i += 4
	return rune(v), nil
}
