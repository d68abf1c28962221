package agent

import (
	"encoding/json"
	"sort"
	"strings"
)

// token is one word or number, by hash.
type token struct {
	hash  uint32
	num   int64
	isNum bool
}

const (
	hashSeed  = 2166136261
	hashPrime = 16777619
	maxDigits = 9
)

// hashText is FNV-1a over lower-cased ASCII.
func hashText(s string) uint32 {
	h := uint32(hashSeed)
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || c == '_' || c == '-'
}

// tokenize splits a text at everything that is no letter, digit, underscore or hyphen; a hyphen before a number is a sign.
func tokenize(s string, limit int) []token {
	var out []token
	for i := 0; i < len(s) && len(out) < limit; {
		if !isWord(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isWord(s[j]) {
			j++
		}
		if t, ok := newToken(s[i:j]); ok {
			out = append(out, t)
		}
		i = j
	}
	return out
}

func newToken(s string) (token, bool) {
	if strings.Trim(s, "-_") == "" {
		// A lone mark is a word of its own: boards use it for an empty cell.
		return token{hash: hashText(s)}, true
	}
	t := token{hash: hashText(s)}
	t.num, t.isNum = parseInt(s)
	return t, true
}

func parseInt(s string) (int64, bool) {
	neg := strings.HasPrefix(s, "-")
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > maxDigits {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// actionTokens are the words of an action, see plainAction.
func actionTokens(action string) []token { return tokenize(plainAction(action), maxActionTokens) }

// plainAction is an action in plain words: of a tool call, the tool's name and the values of its arguments.
func plainAction(action string) string {
	if !strings.HasPrefix(action, "{") {
		return action
	}
	var call any
	if err := json.Unmarshal([]byte(action), &call); err != nil {
		return action
	}
	var words []string
	collect(call, &words)
	return strings.Join(words, " ")
}

// collect gathers leaf values in the order of sorted keys, so that the order of a map cannot matter.
func collect(v any, out *[]string) {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i := len(keys) - 1; i >= 0; i-- { // "name" before "arguments"
			collect(x[keys[i]], out)
		}
	case []any:
		for _, e := range x {
			collect(e, out)
		}
	case string:
		*out = append(*out, x)
	default:
		raw, err := json.Marshal(x)
		if err == nil {
			*out = append(*out, string(raw))
		}
	}
}
