package pools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
)

// catalogueSource is the source whose first observation is the catalogue of a set.
func catalogueSource(s set) gym.Source {
	return gym.Source{
		Runtime: gym.RuntimePython, Package: s.name,
		Code: fmt.Sprintf("from spade_pools.%s import Catalogue as Env\n", s.adapter),
	}
}

// entrySource is the source of one environment: what it is, of which version of its package, by which revision of the adapter,
// and nothing else.
func entrySource(s set, c catalogue, e listed) (gym.Source, error) {
	options, err := keywords(e.Options)
	if err != nil {
		return gym.Source{}, fmt.Errorf("options of %s:%s: %w", s.name, e.Name, err)
	}
	code := fmt.Sprintf(`# %s of %s %s (%s)
from spade_pools.%s import make

Env = make(%s, version=%s, seeds=(%d, %d), adapter=%d%s)
`, e.Name, s.distribution, c.Version, s.licence, s.adapter, quote(e.Name), quote(c.Version), e.Seeds[0], e.Seeds[1], c.Adapter, options)
	return gym.Source{Runtime: gym.RuntimePython, Package: s.name, Code: code}, nil
}

// keywords writes options as keyword arguments, in the order of their names.
func keywords(options map[string]any) (string, error) {
	names := make([]string, 0, len(options))
	for name := range options {
		if !isIdentifier(name) {
			return "", fmt.Errorf("%q is no name of an option", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		value, err := literal(options[name])
		if err != nil {
			return "", fmt.Errorf("option %s: %w", name, err)
		}
		fmt.Fprintf(&out, ", %s=%s", name, value)
	}
	return out.String(), nil
}

// literal writes a JSON value as Python does.
func literal(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "None", nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case string:
		return quote(v), nil
	case json.Number:
		return v.String(), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", errors.New("a number that is not finite")
		}
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			text, err := literal(item)
			if err != nil {
				return "", err
			}
			parts[i] = text
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	return "", fmt.Errorf("a value of type %T", v)
}

// quote writes a text as a Python literal. Only what both languages read alike is left as it is.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ' || r > '~':
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
