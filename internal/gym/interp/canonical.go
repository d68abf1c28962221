package interp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// Bounds of a JSON value, the same in every runtime.
const (
	maxDepth  = 64   // nested lists and dictionaries
	maxDigits = 1000 // of one integer
)

// Faults of a value that is to be JSON.
var (
	errNotJSON  = errors.New("not a JSON value")
	errEncoding = errors.New("text that is not UTF-8")
	errTooLarge = errors.New("over the size limit")
)

// Canonical returns the canonical JSON of a value: what Python's
//
//	json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
//
// gives. Keys are in code point order, floats are the shortest that read back equal and always show that they are floats.
// Tuples are lists. Limit bounds the bytes.
func Canonical(v starlark.Value, limit int) (string, error) {
	c := canonicalizer{limit: limit}
	if _, err := c.value(v, 0); err != nil {
		return "", err
	}
	if len(c.buf) > limit {
		return "", fmt.Errorf("%w of %d bytes", errTooLarge, limit)
	}
	return string(c.buf), nil
}

// canonicalizer writes canonical JSON and, where asked, makes the copy that equals reading it back, in one pass.
type canonicalizer struct {
	buf   []byte
	limit int
	// copying makes value return the copy; otherwise what it returns for lists and dictionaries means nothing.
	copying bool
	// entries is scratch space: the dictionaries from the root to where the work is.
	entries []entry
}

func (c *canonicalizer) value(v starlark.Value, depth int) (starlark.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d", errNotJSON, maxDepth)
	}
	if len(c.buf) > c.limit {
		return nil, fmt.Errorf("%w of %d bytes", errTooLarge, c.limit)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		c.buf = append(c.buf, "null"...)
	case starlark.Bool:
		c.buf = strconv.AppendBool(c.buf, bool(v))
	case starlark.Int:
		return v, c.integer(v)
	case starlark.Float:
		return v, c.float(float64(v))
	case starlark.String:
		return v, c.text(string(v))
	case *starlark.List:
		return c.list(v, v.Len(), depth)
	case starlark.Tuple:
		return c.list(v, v.Len(), depth)
	case *starlark.Dict:
		return c.dict(v, depth)
	default:
		return nil, fmt.Errorf("%w: a %s", errNotJSON, v.Type())
	}
	return v, nil
}

func (c *canonicalizer) integer(v starlark.Int) error {
	if i, ok := v.Int64(); ok {
		c.buf = strconv.AppendInt(c.buf, i, 10)
		return nil
	}
	s := ""
	if b := v.BigInt(); b.BitLen() <= maxDigits*4 {
		s = b.String()
	}
	if s == "" || len(strings.TrimPrefix(s, "-")) > maxDigits {
		return fmt.Errorf("%w: an integer of more than %d digits", errNotJSON, maxDigits)
	}
	c.buf = append(c.buf, s...)
	return nil
}

func (c *canonicalizer) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%w: the number %v", errNotJSON, f)
	}
	c.buf = appendFloat(c.buf, f)
	return nil
}

// appendFloat writes a finite float as Python's repr does: the shortest digits, without exponent from 1e-4 up to 1e16.
func appendFloat(buf []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(buf, f, 'e', -1, 64)
	}
	start := len(buf)
	buf = strconv.AppendFloat(buf, f, 'f', -1, 64)
	if !slices.Contains(buf[start:], '.') {
		buf = append(buf, ".0"...)
	}
	return buf
}

func (c *canonicalizer) text(s string) error {
	if !utf8.ValidString(s) {
		return errEncoding
	}
	if len(c.buf)+len(s) > c.limit {
		return fmt.Errorf("%w of %d bytes", errTooLarge, c.limit)
	}
	c.buf = appendQuoted(c.buf, s)
	return nil
}

// shortEscapes are the control characters that JSON names by a letter.
var shortEscapes = [32]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// appendQuoted writes a JSON string that escapes only what it must.
func appendQuoted(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	start := 0
	for i := range len(s) {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		buf = append(buf, s[start:i]...)
		start = i + 1
		switch {
		case b >= ' ':
			buf = append(buf, '\\', b)
		case shortEscapes[b] != 0:
			buf = append(buf, '\\', shortEscapes[b])
		default:
			buf = append(buf, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		}
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}

func (c *canonicalizer) list(v starlark.Indexable, n, depth int) (starlark.Value, error) {
	var items []starlark.Value
	if c.copying {
		items = make([]starlark.Value, 0, n)
	}
	c.buf = append(c.buf, '[')
	for i := range n {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		item, err := c.value(v.Index(i), depth+1)
		if err != nil {
			return nil, err
		}
		if c.copying {
			items = append(items, item)
		}
	}
	c.buf = append(c.buf, ']')
	if !c.copying {
		return nil, nil
	}
	return starlark.NewList(items), nil
}

type entry struct {
	key             string
	keyValue, value starlark.Value
}

func (c *canonicalizer) dict(v *starlark.Dict, depth int) (starlark.Value, error) {
	base := len(c.entries)
	sorted := true
	for k, item := range v.Entries() {
		key, ok := k.(starlark.String)
		if !ok {
			return nil, fmt.Errorf("%w: a dictionary key of type %s", errNotJSON, k.Type())
		}
		if n := len(c.entries); n > base && c.entries[n-1].key > string(key) {
			sorted = false
		}
		c.entries = append(c.entries, entry{string(key), k, item})
	}
	if !sorted {
		slices.SortFunc(c.entries[base:], func(a, b entry) int { return strings.Compare(a.key, b.key) })
	}
	out, err := c.members(base, depth)
	clear(c.entries[base:])
	c.entries = c.entries[:base]
	if out == nil || err != nil {
		return nil, err
	}
	return out, nil
}

// members writes the entries from base on.
func (c *canonicalizer) members(base, depth int) (out *starlark.Dict, err error) {
	n := len(c.entries)
	if c.copying {
		out = starlark.NewDict(n - base)
	}
	c.buf = append(c.buf, '{')
	for i := base; i < n; i++ {
		e := c.entries[i]
		if i > base {
			c.buf = append(c.buf, ',')
		}
		if err := c.text(e.key); err != nil {
			return nil, err
		}
		c.buf = append(c.buf, ':')
		item, err := c.value(e.value, depth+1)
		if err != nil {
			return nil, err
		}
		if !c.copying {
			continue
		}
		if err := out.SetKey(e.keyValue, item); err != nil {
			return nil, err
		}
	}
	c.buf = append(c.buf, '}')
	return out, nil
}
