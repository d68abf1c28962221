package embedding

import (
	"strings"
	"unicode"
)

// splitWords gives the lower-case words of a text: runs of letters and digits.
// Words of digits only are numbers, and dropped: a number is no vocabulary.
func splitWords(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	kept := fields[:0]
	for _, w := range fields {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			kept = append(kept, w)
		}
	}
	return kept
}

// addWords counts the words that carry meaning of their own.
func addWords(text string, into *bag) {
	for _, w := range splitWords(text) {
		if !isStopWord(w) {
			into.add(w, 1)
		}
	}
}

// addDocument counts words, pairs of neighbouring words, and the letter
// trigrams inside words, which bring inflected forms together.
func addDocument(text string, into *bag) {
	previous := ""
	for _, w := range splitWords(text) {
		if isStopWord(w) {
			previous = ""
			continue
		}
		into.add("w "+w, 4)
		if previous != "" {
			into.add("p "+previous+" "+w, 2)
		}
		previous = w
		padded := []rune("^" + w + "$")
		for i := 0; i+3 <= len(padded) && len(padded) > 4; i++ {
			into.add("t "+string(padded[i:i+3]), 1)
		}
	}
}

// isStopWord tells the English words that say nothing about a subject.
func isStopWord(w string) bool {
	if len(w) < 2 {
		return true
	}
	switch w {
	case "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
		"both", "but", "by", "can", "do", "does", "each", "for", "from", "had", "has", "have", "how", "if", "in", "into",
		"is", "it", "its", "may", "more", "most", "no", "not", "of", "on", "one", "only", "or", "other", "out", "over",
		"so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
		"under", "up", "was", "were", "what", "when", "where", "which", "while", "who", "will", "with", "would", "you", "your":
		return true
	}
	return false
}
