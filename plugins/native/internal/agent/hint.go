package agent

import "strings"

// What a hint is worth. The agent can read: it follows a hint as a matter of course, and how well an environment's hint
// helps is what regret measures. The values are fixed, so nothing about hints is learned, and larger than what is usually
// learned about anything else.
const (
	hintNext = 10.0 // the action is the next one that the hint names
	hintAt   = 10.0 // the action is the one that the hint lists for this step
	hintWord = 4.0  // the hint holds a word that only this action has
)

// hintBonus returns what the hint adds to each action's score.
func (s *scene) hintBonus() []float64 {
	bonus := make([]float64, len(s.actions))
	if s.hint == "" {
		return bonus
	}
	if i := s.nextNamed(); i >= 0 {
		bonus[i] += hintNext
	}
	items := strings.Split(s.hint, ", then ")
	for i := range s.actions {
		if s.steps < len(items) && strings.HasSuffix(items[s.steps], s.actions[i].plain) && len(items) > 1 {
			bonus[i] += hintAt
		}
	}
	s.wordBonus(bonus)
	return bonus
}

// nextNamed walks the hint past the actions that were taken and returns the legal action that it names first after them.
func (s *scene) nextNamed() int {
	rest := s.hint
	for _, p := range s.past {
		p = plainAction(p)
		if at := strings.Index(rest, p); at >= 0 {
			rest = rest[at+len(p):]
		}
	}
	best, bestAt := -1, len(rest)
	for i := range s.actions {
		text := s.actions[i].plain
		at := strings.Index(rest, text)
		if at < 0 || at > bestAt || at == bestAt && best >= 0 && len(text) < len(s.actions[best].plain) {
			continue
		}
		best, bestAt = i, at
	}
	return best
}

func (s *scene) wordBonus(bonus []float64) {
	if strings.Contains(s.hint, ", then ") {
		return // a plan names the actions of all steps
	}
	said := tokenize(s.hint, 64)
	for i := range s.actions {
		for _, k := range s.actions[i].keys {
			if has(said, k.hash) {
				bonus[i] += hintWord
				break
			}
		}
	}
}
