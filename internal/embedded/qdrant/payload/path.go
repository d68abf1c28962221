package payload

import (
	"fmt"
	"strconv"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
)

// Path is a parsed payload key: names joined by dots, each followed by any
// number of [] (every element) or [n] (one element).
type Path []step

type step struct {
	name string
	// at holds the subscripts after the name; every is one that means all.
	at []int
}

const every = -1

// ParsePath parses a payload key.
func ParsePath(key string) (Path, error) {
	if key == "" {
		return nil, fmt.Errorf("payload key is empty")
	}
	var path Path
	for part := range strings.SplitSeq(key, ".") {
		s, err := parseStep(part)
		if err != nil {
			return nil, fmt.Errorf("payload key %q: %w", key, err)
		}
		path = append(path, s)
	}
	return path, nil
}

func parseStep(part string) (step, error) {
	name, rest, found := strings.Cut(part, "[")
	s := step{name: name}
	if name == "" {
		return s, fmt.Errorf("a name is missing")
	}
	for found {
		var inside string
		inside, rest, found = strings.Cut(rest, "]")
		if !found {
			return s, fmt.Errorf("a bracket is not closed")
		}
		n := every
		if inside != "" {
			v, err := strconv.ParseUint(inside, 10, 31)
			if err != nil {
				return s, fmt.Errorf("subscript %q is no number", inside)
			}
			n = int(v)
		}
		s.at = append(s.at, n)
		if rest == "" {
			return s, nil
		}
		if rest[0] != '[' {
			return s, fmt.Errorf("unexpected text after a bracket")
		}
		rest = rest[1:]
	}
	return s, nil
}

// Simple reports whether the path is one plain name, and gives it.
func (p Path) Simple() (string, bool) {
	return p[0].name, len(p) == 1 && len(p[0].at) == 0
}

// Values returns every value the path names in the payload, as stored: a list
// that the path ends on is one value.
func (p Path) Values(fields map[string]*pb.Value) []*pb.Value {
	return p.walk(fields, nil)
}

func (p Path) walk(fields map[string]*pb.Value, out []*pb.Value) []*pb.Value {
	v, ok := fields[p[0].name]
	if !ok {
		return out
	}
	for _, v := range subscript(v, p[0].at) {
		if len(p) == 1 {
			out = append(out, v)
			continue
		}
		if s := v.GetStructValue(); s != nil {
			out = p[1:].walk(s.GetFields(), out)
		}
	}
	return out
}

func subscript(v *pb.Value, at []int) []*pb.Value {
	level := []*pb.Value{v}
	for _, n := range at {
		var next []*pb.Value
		for _, v := range level {
			items := v.GetListValue().GetValues()
			switch {
			case n == every:
				next = append(next, items...)
			case n < len(items):
				next = append(next, items[n])
			}
		}
		level = next
	}
	return level
}

// Flatten replaces each list among the values by its elements: a condition on
// a list holds when it holds for one element.
func Flatten(values []*pb.Value) []*pb.Value {
	flat := values[:0:0]
	for _, v := range values {
		if l := v.GetListValue(); l != nil {
			flat = append(flat, l.GetValues()...)
			continue
		}
		flat = append(flat, v)
	}
	return flat
}
