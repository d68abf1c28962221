package gate

import (
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
// characters of the hint; and a word of an action of the reference solution that the hint gives away, unless the
// environment itself offers that word, in a listed action on the way of the solution or in its tools. A word that is
// offered to be chosen is no secret.
func (s *session) leak() string {
	for _, t := range s.of(reference) {
		seen := normalize(t.first.Observation) + "\n" + normalize(t.first.Info)
		hint := normalize(t.first.Hint)
		if run := sharedRun(hint, seen); run != "" {
			return fmt.Sprintf("seed %d: the first observation or info holds %q of the hint", t.seed, run)
		}
		if word := s.leakedWord(t, hint, seen); word != "" {
			return fmt.Sprintf("seed %d: the first observation or info holds %q, which the hint and the solution name", t.seed, word)
		}
	}
	return ""
}

// normalize lowers letters and makes one space of everything that is neither a letter nor a digit.
func normalize(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// sharedRun returns a piece of leakRun characters that is in both texts.
func sharedRun(hint, seen string) string {
	h, o := []rune(hint), []rune(seen)
	if len(h) < leakRun || len(o) < leakRun {
		return ""
	}
	windows := make(map[string]struct{}, len(h))
	for i := 0; i+leakRun <= len(h); i++ {
		windows[string(h[i:i+leakRun])] = struct{}{}
	}
	for i := 0; i+leakRun <= len(o); i++ {
		piece := string(o[i : i+leakRun])
		if _, ok := windows[piece]; ok {
			return piece
		}
	}
	return ""
}

func (s *session) leakedWord(t *trajectory, hint, seen string) string {
	offered := map[string]bool{}
	offer := func(text string) {
		for _, w := range strings.Fields(normalize(text)) {
			offered[w] = true
		}
	}
	for _, a := range t.first.Actions {
		offer(a)
	}
	for _, step := range t.steps {
		for _, a := range step.Actions {
			offer(a)
		}
	}
	for _, tool := range s.meta.Tools {
		offer(string(tool))
	}
	// The keys of a tool call are its form and no answer.
	offer("name arguments")
	hinted, shown := strings.Fields(hint), strings.Fields(seen)
	for _, action := range t.first.Solution {
		for _, w := range strings.Fields(normalize(action)) {
			if len(w) >= leakToken && !offered[w] && slices.Contains(hinted, w) && slices.Contains(shown, w) {
				return w
			}
		}
	}
	return ""
}
