package agent

import (
	"strings"
)

// Caps keep the work of one decision bounded whatever an environment prints.
const (
	maxLines        = 48
	maxLineTokens   = 32
	maxActionTokens = 12
	maxChoices      = 256
)

// Classes of lines: what a line is for, whatever its words.
const (
	classTask   = 1 // the first line
	classSingle = 2 // its label stands on no other line
	classRow    = 3 // one of several lines with the same label
	classOld    = 4 // added to the others: the line was on the first screen and is no longer shown
)

// Message is one turn of the prompt.
type Message struct{ Role, Content string }

type line struct {
	label  uint32
	class  uint32
	tokens []token
	dup    bool // a token stands twice in it
}

// scene is what a decision can depend on.
type scene struct {
	lines   []line
	past    []string
	steps   int
	last    []token // what the last action named, beside what all actions name
	stuck   bool    // the last action changed nothing
	hint    string
	actions []candidate
}

type candidate struct {
	plain  string
	tokens []token
	keys   []token // the tokens that not every action has
	tried  bool
	last   bool
}

const hintPrefix = "Hint: "

// newScene parses a prompt and its legal actions.
func newScene(messages []Message, choices []string) *scene {
	s := &scene{}
	var screens []string
	for i, m := range messages {
		switch {
		case m.Role == "assistant":
			s.past = append(s.past, m.Content)
		case m.Role == "user" && i == 1 && strings.HasPrefix(m.Content, hintPrefix):
			// Only the platform puts a second message beside the first observation: what an environment shows is no hint,
			// whatever it begins with.
			s.hint = m.Content[len(hintPrefix):]
		case m.Role == "user":
			screens = append(screens, m.Content)
		}
	}
	s.steps = len(s.past)
	if n := len(screens); n > 0 {
		s.stuck = n > 1 && screens[n-1] == screens[n-2]
		s.readScreens(screens[0], screens[n-1])
	}
	s.readActions(choices)
	return s
}

func (s *scene) readScreens(first, now string) {
	shown := map[string]bool{}
	for _, text := range strings.Split(now, "\n") {
		shown[text] = true
		s.addLine(text, 0)
	}
	classify(s.lines)
	if first == now {
		return
	}
	current := len(s.lines)
	for _, text := range strings.Split(first, "\n") {
		if !shown[text] {
			s.addLine(text, classOld)
		}
	}
	classify(s.lines[current:])
}

// addLine splits a line at its first colon into a label, of which the first word counts, and the content.
func (s *scene) addLine(text string, class uint32) {
	if len(s.lines) == maxLines || strings.TrimSpace(text) == "" {
		return
	}
	l := line{class: class}
	if label, content, ok := strings.Cut(text, ":"); ok && len(label) < 40 {
		head := tokenize(label, maxLineTokens)
		if len(head) > 0 {
			l.label = head[0].hash
			l.tokens = append(l.tokens, head[1:]...)
		}
		l.tokens = append(l.tokens, tokenize(content, maxLineTokens)...)
	} else {
		l.tokens = tokenize(text, maxLineTokens)
	}
	for i := range l.tokens {
		for j := range i {
			l.dup = l.dup || l.tokens[i].hash == l.tokens[j].hash
		}
	}
	s.lines = append(s.lines, l)
}

func classify(lines []line) {
	for i := range lines {
		old := lines[i].class & classOld
		n := 0
		for j := range lines {
			if lines[j].label == lines[i].label {
				n++
			}
		}
		switch {
		case i == 0:
			lines[i].class = classTask
		case n == 1:
			lines[i].class = classSingle
		default:
			lines[i].class = classRow
		}
		lines[i].class |= old
	}
}

func (s *scene) readActions(choices []string) {
	if len(choices) > maxChoices {
		choices = choices[:maxChoices]
	}
	s.actions = make([]candidate, len(choices))
	count := map[uint32]int{}
	for i, text := range choices {
		c := &s.actions[i]
		c.plain = plainAction(text)
		c.tokens = tokenize(c.plain, maxActionTokens)
		for k, t := range c.tokens {
			if !has(c.tokens[:k], t.hash) {
				count[t.hash]++
			}
		}
		for k, p := range s.past {
			c.tried = c.tried || p == text
			c.last = k == len(s.past)-1 && p == text
		}
	}
	s.readLast(count, len(choices))
	for i := range s.actions {
		c := &s.actions[i]
		for k, t := range c.tokens {
			if count[t.hash] < len(choices) && !has(c.tokens[:k], t.hash) {
				c.keys = append(c.keys, t)
			}
		}
	}
}

func (s *scene) readLast(count map[uint32]int, n int) {
	if s.steps == 0 {
		return
	}
	for _, t := range actionTokens(s.past[s.steps-1]) {
		if n < 2 || count[t.hash] < n {
			s.last = append(s.last, t)
		}
	}
}

func has(ts []token, hash uint32) bool {
	for _, t := range ts {
		if t.hash == hash {
			return true
		}
	}
	return false
}
