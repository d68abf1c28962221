package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// leakRun is the length of the shortest piece of the hint, in normalised characters, that counts as leaked.
const leakRun = 24

// leakToken is the length of the shortest word of an answer that counts as leaked: shorter ones are everywhere.
const leakToken = 4

// leak looks for the hint in what the plain arm sees first. Two things count: a run of at least leakRun normalised
// characters of the hint; and a word of an action of the reference solution that the hint gives away. What the
// environment itself offers is no secret and counts for neither: the actions that it lists on the way of the solution,
// and its tools.
func (s *session) leak() string {
	for _, t := range s.of(reference) {
		seen := normalize(t.first.Observation) + "\n" + normalize(withoutActions(t.first.Info))
		hint := normalize(t.first.Hint)
		offered := s.offered(t)
		if run := sharedRun(hint, seen, offered); run != "" {
			return fmt.Sprintf("seed %d: the first observation or info holds %q of the hint", t.seed, run)
		}
		if word := leakedWord(t.first.Solution, hint, seen, offered); word != "" {
			return fmt.Sprintf("seed %d: the first observation or info holds %q, which the hint and the solution name", t.seed, word)
		}
	}
	return ""
}

// offered is the normalised text of everything that the environment lets the agent choose from, each between spaces.
func (s *session) offered(t *trajectory) []string {
	var list []string
	seen := map[string]bool{}
	offer := func(texts ...string) {
		for _, text := range texts {
			if n := " " + normalize(text) + " "; !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	offer(t.first.Actions...)
	for _, step := range t.steps {
		offer(step.Actions...)
	}
	for _, tool := range s.meta.Tools {
		offer(string(tool))
	}
	offer("name arguments") // the form of a tool call
	return list
}

// withoutActions is the info without its list of actions, which are offered and not told.
func withoutActions(info string) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(info), &fields); err != nil {
		return info
	}
	delete(fields, "actions")
	var out strings.Builder
	for _, k := range sortedKeys(fields) {
		fmt.Fprintf(&out, "%s %s\n", k, fields[k])
	}
	return out.String()
}

// normalize lowers letters and makes one space of everything that is neither a letter nor a digit.
func normalize(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// windows are all pieces of leakRun characters of a text.
func windows(s string, each func(string)) {
	r := []rune(s)
	for i := 0; i+leakRun <= len(r); i++ {
		each(string(r[i : i+leakRun]))
	}
}

// sharedRun returns a piece of leakRun characters that is in both texts and in nothing that is offered.
func sharedRun(hint, seen string, offered []string) string {
	told := map[string]bool{}
	windows(hint, func(w string) { told[w] = true })
	for _, o := range offered {
		windows(o, func(w string) { delete(told, w) })
	}
	found := ""
	windows(seen, func(w string) {
		if found == "" && told[w] {
			found = w
		}
	})
	return found
}

func leakedWord(solution []string, hint, seen string, offered []string) string {
	free := map[string]bool{}
	for _, o := range offered {
		for _, w := range strings.Fields(o) {
			free[w] = true
		}
	}
	hinted, shown := strings.Fields(hint), strings.Fields(seen)
	for _, action := range solution {
		for _, w := range strings.Fields(normalize(action)) {
			if len(w) >= leakToken && !free[w] && slices.Contains(hinted, w) && slices.Contains(shown, w) {
				return w
			}
		}
	}
	return ""
}
