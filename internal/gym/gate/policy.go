package gate

import (
	"encoding/json"
	"strings"

	"github.com/seed256f7767/spade/internal/seed"
)

// policy chooses the action of step t; ok is false when it has none left.
type policy func(t int, listed []string, observation string) (action string, ok bool)

// junk is what no environment lists: it must answer all of it without an error.
var junk = [...]string{"no such action", "", `{"name": "no_such_tool", "arguments": {}}`, "{", "\u00e9\u4e2d\x00", "-1"}

// referencePolicy plays the solution that came with the reset of reference episode i.
func (s *session) referencePolicy(i int) policy {
	return func(t int, _ []string, _ string) (string, bool) {
		if solution := s.all[i].first.Solution; t < len(solution) {
			return solution[t], true
		}
		return "", false
	}
}

// wrongPolicies are three ways to be wrong: never what the solution says, everything but its last action, and nonsense.
func (s *session) wrongPolicies(solution []string) [3]policy {
	return [3]policy{
		s.contrary(solution, 0, 0),
		s.contrary(solution, len(solution)-1, 1),
		func(t int, _ []string, _ string) (string, bool) { return junk[t%len(junk)], true },
	}
}

// contrary follows the solution up to step from and then plays what it does not say.
func (s *session) contrary(solution []string, from, index int) policy {
	r := seed.Stream(s.opts.Seed, seed.Key{Purpose: "gate.wrong", Index: index})
	return func(t int, listed []string, _ string) (string, bool) {
		if t < from && t < len(solution) {
			return solution[t], true
		}
		var others []string
		for _, a := range listed {
			if t >= len(solution) || a != solution[t] {
				others = append(others, a)
			}
		}
		if len(others) == 0 {
			return junk[t%len(junk)], true
		}
		return others[r.IntN(len(others))], true
	}
}

// randomPolicy draws among the listed actions; without any it calls a random tool of META with random arguments, or says
// a word of the observation.
func (s *session) randomPolicy(seedIndex, episode int) policy {
	r := seed.Stream(s.opts.Seed, seed.Key{Purpose: "gate.random", Slot: seedIndex, Index: episode})
	return func(_ int, listed []string, observation string) (string, bool) {
		if len(listed) > 0 {
			return listed[r.IntN(len(listed))], true
		}
		if len(s.meta.Tools) > 0 {
			return randomCall(r, s.meta.Tools[r.IntN(len(s.meta.Tools))]), true
		}
		words := strings.Fields(observation)
		if len(words) == 0 {
			return junk[0], true
		}
		return strings.Trim(words[r.IntN(len(words))], ".,:;!?()[]\"'"), true
	}
}

// schema is the part of JSON Schema that a random call needs. Tools come as {"name", "parameters"} or as a plain schema
// with a title.
type schema struct {
	Name       string            `json:"name"`
	Title      string            `json:"title"`
	Type       any               `json:"type"`
	Parameters *schema           `json:"parameters"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Enum       []any             `json:"enum"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
}

func randomCall(r *seed.Rand, tool json.RawMessage) string {
	var s schema
	if err := json.Unmarshal(tool, &s); err != nil {
		return junk[2] // a schema of another shape than ours is still a tool that can be called wrongly
	}
	name, parameters := s.Name, &s
	if name == "" {
		name = s.Title
	}
	if s.Parameters != nil {
		parameters = s.Parameters
	}
	call := map[string]any{"name": name, "arguments": parameters.object(r, 0)}
	text, err := json.Marshal(call) // sorts the keys
	if err != nil {
		return junk[2]
	}
	return string(text)
}

func (s *schema) object(r *seed.Rand, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name]
		out[name] = p.value(r, depth+1)
	}
	return out
}

// value draws a value that fits the schema, as far as its simple keywords say.
func (s *schema) value(r *seed.Rand, depth int) any {
	if len(s.Enum) > 0 {
		return s.Enum[r.IntN(len(s.Enum))]
	}
	switch s.Type {
	case "integer", "number":
		lo, hi := 0.0, 10.0
		if s.Minimum != nil {
			lo, hi = *s.Minimum, *s.Minimum+10
		}
		if s.Maximum != nil {
			hi = *s.Maximum
		}
		return r.RandInt(int64(lo), int64(hi))
	case "boolean":
		return r.IntN(2) == 1
	case "array":
		if s.Items != nil && depth < 4 {
			return []any{s.Items.value(r, depth+1)}
		}
		return []any{}
	case "object":
		if depth < 4 {
			return s.object(r, depth)
		}
		return map[string]any{}
	}
	return []string{"a", "b", "x", "1", "name"}[r.IntN(5)]
}
