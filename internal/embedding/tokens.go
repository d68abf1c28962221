package embedding

import (
	"regexp"
	"strings"
)

// addTokens reads a source that is not Starlark (Python classes, and what does
// not parse at all) as tokens: runs of five inside one function, with the same
// replacements as for Starlark.
func addTokens(source string, shape, words *bag) {
	for _, function := range splitFunctions(source) {
		tokens := normalise(function, words)
		for i, t := range tokens {
			shape.add("n "+t, weightNode)
			for n, weight := range map[int]int64{3: weightChain, 5: weightLocal} {
				if i+n <= len(tokens) {
					shape.add("t "+strings.Join(tokens[i:i+n], " "), weight)
				}
			}
		}
	}
}

// splitFunctions cuts before every line that begins a def or class, so that
// their order does not matter.
func splitFunctions(source string) []string {
	var out []string
	var current strings.Builder
	for line := range strings.Lines(source) {
		begin := strings.TrimLeft(line, " \t")
		if (strings.HasPrefix(begin, "def ") || strings.HasPrefix(begin, "class ") || strings.HasPrefix(begin, "async def ")) && current.Len() > 0 {
			out = append(out, current.String())
			current.Reset()
		}
		current.WriteString(line)
	}
	return append(out, current.String())
}

func normalise(source string, words *bag) []string {
	var out []string
	afterDot, ofSelf := false, false
	for _, t := range tokenPattern().FindAllString(source, -1) {
		switch kind := kindOf(t); kind {
		case "comment":
			continue
		case "str":
			addWords(t, words)
			out = append(out, kind)
		case "name":
			switch {
			case afterDot && !ofSelf, isKeyword(t), contract(t):
				out = append(out, t)
			default:
				out = append(out, kind)
			}
		default:
			out = append(out, kind)
		}
		ofSelf = t == "self" || ofSelf && t == "." // an attribute of its own is a chosen name
		afterDot = t == "."
	}
	return out
}

// tokenPattern is compiled at each use: the fallback is rare, and the package
// keeps no state.
func tokenPattern() *regexp.Regexp {
	return regexp.MustCompile(`(?s)#[^\n]*|""".*?"""|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[\pL_][\pL\pN_]*|[0-9][\pL\pN_.]*|[^\s\pL\pN]`)
}

func kindOf(t string) string {
	switch c := t[0]; {
	case c == '#':
		return "comment"
	case c == '"' || c == '\'':
		return "str"
	case c >= '0' && c <= '9':
		return "num"
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
		return "name"
	}
	return t
}

func isKeyword(t string) bool {
	switch t {
	case "def", "class", "return", "if", "elif", "else", "for", "while", "in", "not", "and", "or", "is", "lambda", "import",
		"from", "as", "try", "except", "finally", "raise", "with", "yield", "break", "continue", "pass", "None", "True",
		"False", "global", "nonlocal", "assert", "del", "async", "await", "len", "range", "str", "int", "float", "list",
		"dict", "set", "tuple", "sorted", "min", "max", "sum", "enumerate", "zip", "rng", "text", "json", "math":
		return true
	}
	return false
}
