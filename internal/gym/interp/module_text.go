package interp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// textModule is how an environment handles text. Positions and lengths count code points, letters change case in ASCII
// only, and white space is the six ASCII characters, so that nothing depends on a language's Unicode tables.
//
//	text.len(s)  text.chars(s)              a number; a list of one-character texts
//	text.slice(s, start[, end])             as Python slices: negative counts from the end, out of range is clamped
//	text.find(s, part)                      the position of the first occurrence, or -1
//	text.contains(s, part)  text.starts_with(s, part)  text.ends_with(s, part)  text.count(s, part)
//	text.replace(s, old, new)               every occurrence; old must not be empty
//	text.split(s, separator)                separator must not be empty
//	text.words(s)  text.lines(s)            split at runs of white space; split at "\n", no empty last line
//	text.join(separator, list)              a list of texts
//	text.strip(s)  text.lower(s)  text.upper(s)  text.reverse(s)  text.repeat(s, n)
//	text.normalize(s)                       lower case, runs of white space become one space, none at the ends
//	text.pad_left(s, width[, fill])  text.pad_right(s, width[, fill])
//	text.str(value)                         a text as it is, anything else as canonical JSON
//	text.format(template, value, …)         each "{}" is the text.str of the next value; "{{" and "}}" are braces
//	text.fixed(x, digits)                   a number with 0 to 17 decimals, correctly rounded, ties to even
//	text.int(s)  text.float(s)              the number that s spells, or None: -?[0-9]{1,1000}; a JSON number, finite
//	text.ord(c)  text.chr(n)                one code point; surrogates are an error
func textModule() *starlarkstruct.Module {
	members := map[string]builtin{
		"slice": textSlice, "find": textFind, "join": textJoin, "repeat": textRepeat, "str": textStr,
		"format": textFormat, "fixed": textFixed, "chr": textChr, "replace": textReplace, "split": textSplit,
		"pad_left":  padding(func(s, pad string) string { return pad + s }),
		"pad_right": padding(func(s, pad string) string { return s + pad }),
		"contains":  relation(func(s, part string) starlark.Value { return starlark.Bool(strings.Contains(s, part)) }),
		"starts_with": relation(func(s, part string) starlark.Value {
			return starlark.Bool(strings.HasPrefix(s, part))
		}),
		"ends_with": relation(func(s, part string) starlark.Value {
			return starlark.Bool(strings.HasSuffix(s, part))
		}),
		"count": relation(func(s, part string) starlark.Value { return starlark.MakeInt(strings.Count(s, part)) }),
		"len":   ofText(func(s string) (starlark.Value, error) { return starlark.MakeInt(utf8.RuneCountInString(s)), nil }),
		"chars": ofText(func(s string) (starlark.Value, error) {
			return list([]rune(s), func(r rune) starlark.Value { return starlark.String(string(r)) }), nil
		}),
		"words": ofText(func(s string) (starlark.Value, error) { return list(words(s), textValue), nil }),
		"lines": ofText(func(s string) (starlark.Value, error) { return list(splitLines(s), textValue), nil }),
		"strip": ofText(func(s string) (starlark.Value, error) { return starlark.String(strings.Trim(s, whiteSpace)), nil }),
		"lower": ofText(func(s string) (starlark.Value, error) { return starlark.String(asciiCase(s, 'A', 'Z')), nil }),
		"upper": ofText(func(s string) (starlark.Value, error) { return starlark.String(asciiCase(s, 'a', 'z')), nil }),
		"normalize": ofText(func(s string) (starlark.Value, error) {
			return starlark.String(strings.Join(words(asciiCase(s, 'A', 'Z')), " ")), nil
		}),
		"reverse": ofText(func(s string) (starlark.Value, error) { return starlark.String(reverse(s)), nil }),
		"int":     ofText(textInt),
		"float":   ofText(textFloat),
		"ord":     ofText(textOrd),
	}
	return module("text", members, nil)
}

// whiteSpace is what the module takes for white space.
const whiteSpace = " \t\n\v\f\r"

func ofText(body func(string) (starlark.Value, error)) builtin {
	return func(args starlark.Tuple) (starlark.Value, error) {
		if err := arity(args, 1, 1); err != nil {
			return nil, err
		}
		s, err := argText(args, 0)
		if err != nil {
			return nil, err
		}
		return body(s)
	}
}

// relation compares a text with a part of it. An empty part has no place of its own, so it is refused.
func relation(body func(s, part string) starlark.Value) builtin {
	return func(args starlark.Tuple) (starlark.Value, error) {
		s, part, err := textAndPart(args, 2)
		if err != nil {
			return nil, err
		}
		return body(s, part), nil
	}
}

func textAndPart(args starlark.Tuple, n int) (s, part string, err error) {
	if err := arity(args, n, n); err != nil {
		return "", "", err
	}
	texts, err := argTexts(args, 2)
	if err != nil {
		return "", "", err
	}
	if texts[1] == "" {
		return "", "", errors.New("argument 2 is empty")
	}
	return texts[0], texts[1], nil
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && strings.ContainsRune(whiteSpace, r) })
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// asciiCase flips the letters from lo to hi to the other case.
func asciiCase(s string, lo, hi byte) string {
	buf := []byte(s)
	for i, b := range buf {
		if b >= lo && b <= hi {
			buf[i] = b ^ 0x20
		}
	}
	return string(buf)
}

func reverse(s string) string {
	runes := []rune(s)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}

func textSlice(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 3); err != nil {
		return nil, err
	}
	s, err := argText(args, 0)
	if err != nil {
		return nil, err
	}
	runes := []rune(s)
	start, err := argInt(args, 1)
	if err != nil {
		return nil, err
	}
	end := int64(len(runes))
	if len(args) == 3 && args[2] != starlark.None {
		if end, err = argInt(args, 2); err != nil {
			return nil, err
		}
	}
	i, j := clampIndex(start, len(runes)), clampIndex(end, len(runes))
	if i >= j {
		return starlark.String(""), nil
	}
	return starlark.String(string(runes[i:j])), nil
}

func clampIndex(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n)))
}

func textFind(args starlark.Tuple) (starlark.Value, error) {
	s, part, err := textAndPart(args, 2)
	if err != nil {
		return nil, err
	}
	at := strings.Index(s, part)
	if at < 0 {
		return starlark.MakeInt(-1), nil
	}
	return starlark.MakeInt(utf8.RuneCountInString(s[:at])), nil
}

func textReplace(args starlark.Tuple) (starlark.Value, error) {
	s, old, err := textAndPart(args, 3)
	if err != nil {
		return nil, err
	}
	with, err := argText(args, 2)
	if err != nil {
		return nil, err
	}
	if len(s)+strings.Count(s, old)*(len(with)-len(old)) > maxText {
		return nil, fmt.Errorf("result %w of %d bytes", errTooLarge, maxText)
	}
	return starlark.String(strings.ReplaceAll(s, old, with)), nil
}

func textSplit(args starlark.Tuple) (starlark.Value, error) {
	s, separator, err := textAndPart(args, 2)
	if err != nil {
		return nil, err
	}
	return list(strings.Split(s, separator), textValue), nil
}

func textJoin(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 2); err != nil {
		return nil, err
	}
	separator, err := argText(args, 0)
	if err != nil {
		return nil, err
	}
	items, err := argList(args, 1)
	if err != nil {
		return nil, err
	}
	parts, err := argTexts(items, len(items))
	if err != nil {
		return nil, fmt.Errorf("in the list: %w", err)
	}
	size := len(separator) * len(parts)
	for _, p := range parts {
		size += len(p)
	}
	if size > maxText {
		return nil, fmt.Errorf("result %w of %d bytes", errTooLarge, maxText)
	}
	return starlark.String(strings.Join(parts, separator)), nil
}

func textRepeat(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 2); err != nil {
		return nil, err
	}
	s, err := argText(args, 0)
	if err != nil {
		return nil, err
	}
	n, err := argInt(args, 1)
	if err != nil {
		return nil, err
	}
	if n <= 0 || s == "" {
		return starlark.String(""), nil
	}
	if n > int64(maxText/len(s)) {
		return nil, fmt.Errorf("result %w of %d bytes", errTooLarge, maxText)
	}
	return starlark.String(strings.Repeat(s, int(n))), nil
}

func padding(place func(s, pad string) string) builtin {
	return func(args starlark.Tuple) (starlark.Value, error) {
		if err := arity(args, 2, 3); err != nil {
			return nil, err
		}
		s, err := argText(args, 0)
		if err != nil {
			return nil, err
		}
		width, err := argInt(args, 1)
		if err != nil {
			return nil, err
		}
		fill := " "
		if len(args) == 3 {
			if fill, err = argText(args, 2); err != nil {
				return nil, err
			}
		}
		if utf8.RuneCountInString(fill) != 1 {
			return nil, errors.New("the fill must be one character")
		}
		lacking := max(width, 0) - int64(utf8.RuneCountInString(s))
		if lacking > maxText/int64(len(fill)) {
			return nil, fmt.Errorf("result %w of %d bytes", errTooLarge, maxText)
		}
		return boundedText(place(s, strings.Repeat(fill, int(max(lacking, 0)))))
	}
}

// str is the text of a value: a text as it is, anything else as canonical JSON.
func str(v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	return Canonical(v, maxText)
}

func textStr(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	s, err := str(args[0])
	return starlark.String(s), err
}

func textFormat(args starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, errors.New("no template")
	}
	template, err := argText(args, 0)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	values := args[1:]
	for template != "" {
		at := strings.IndexAny(template, "{}")
		if at < 0 {
			out.WriteString(template)
			break
		}
		out.WriteString(template[:at])
		mark := template[at:min(at+2, len(template))]
		template = template[at+len(mark):]
		switch mark {
		case "{{", "}}":
			out.WriteByte(mark[0])
		case "{}":
			if len(values) == 0 {
				return nil, errors.New("more places than values")
			}
			s, err := str(values[0])
			if err != nil {
				return nil, err
			}
			out.WriteString(s)
			values = values[1:]
		default:
			return nil, errors.New("a brace that is neither {} nor doubled")
		}
		if out.Len() > maxText {
			break
		}
	}
	if len(values) > 0 && out.Len() <= maxText {
		return nil, errors.New("more values than places")
	}
	return boundedText(out.String())
}

func textFixed(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 2); err != nil {
		return nil, err
	}
	if _, err := number(args[0]); err != nil {
		return nil, err
	}
	x, err := toFloat(args[0])
	if err != nil {
		return nil, err
	}
	digits, err := argInt(args, 1)
	if err != nil {
		return nil, err
	}
	if digits < 0 || digits > 17 {
		return nil, errors.New("the number of decimals must be between 0 and 17")
	}
	return starlark.String(strconv.FormatFloat(x, 'f', int(digits), 64)), nil
}

func textInt(s string) (starlark.Value, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return starlark.None, nil
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return starlark.None, nil
	}
	return starlark.MakeBigInt(n), nil
}

func textFloat(s string) (starlark.Value, error) {
	d := jsonDecoder{s: s}
	v, err := d.number()
	if err != nil || d.i != len(s) {
		return starlark.None, nil
	}
	f, ok := starlark.AsFloat(v)
	if !ok || math.IsInf(f, 0) {
		return starlark.None, nil
	}
	return starlark.Float(f), nil
}

func textOrd(s string) (starlark.Value, error) {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || size != len(s) || r == utf8.RuneError && size == 1 {
		return nil, errors.New("want one character")
	}
	return starlark.MakeInt(int(r)), nil
}

func textChr(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	n, err := argInt(args, 0)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return nil, errors.New("no such code point")
	}
	return starlark.String(string(rune(n))), nil
}
