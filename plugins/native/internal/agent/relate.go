package agent

import "sync"

// maxFrequency is the number of lines that a word may stand on and still link two of them.
const maxFrequency = 3

// stops is the set of stop words, made once: it never changes.
var stops = sync.OnceValue(stopWords)

// lineFrequency counts the lines that each word stands on. A stop word counts as standing everywhere.
func (s *scene) lineFrequency() map[uint32]int {
	df := map[uint32]int{}
	for i := range s.lines {
		ts := s.lines[i].tokens
		for j, t := range ts {
			if !has(ts[:j], t.hash) {
				df[t.hash]++
			}
		}
	}
	stop := stops()
	for h := range df {
		if stop[h] {
			df[h] = maxFrequency + 1
		}
	}
	return df
}

// relate adds what can be said about the places where the action's words stand.
func (s *scene) relate(f *features, c *candidate, df map[uint32]int) {
	for _, key := range c.keys {
		if df[key.hash] == 0 {
			f.rel(kNowhere)
			continue
		}
		for i := range s.lines {
			l := &s.lines[i]
			for j := range l.tokens {
				if l.tokens[j].hash == key.hash {
					s.occurrence(f, l, j)
					s.bridges(f, i, j, df)
				}
			}
		}
	}
}

const maxPlace = 6

// occurrence describes one place of a word: its line, its neighbours, its position from both ends.
func (s *scene) occurrence(f *features, l *line, at int) {
	end := len(l.tokens) - 1 - at
	f.key(kOccur, l.class)
	f.rel(kOccurLabel, l.class, l.label)
	f.rel(kOccurPrev, l.class, neighbour(l, at-1))
	f.rel(kOccurNext, l.class, neighbour(l, at+1))
	f.rel(kOccurStart, l.class, uint32(min(at, maxPlace)))
	f.rel(kOccurEnd, l.class, uint32(min(end, maxPlace)))
	f.keyIf(l.dup, kLineDup, l.class)
	if len(l.tokens) < minRow {
		return
	}
	f.keyIf(at == s.steps, kIndexStep, l.class)
	f.keyIf(end == s.steps, kEndIndexStep, l.class)
	s.countedPlaces(f, l, at, end)
	if s.mentionsLast(l) {
		f.keyIf(at > 0 && has(s.last, l.tokens[at-1].hash), kFollowsLast, l.class)
		f.keyIf(end > 0 && has(s.last, l.tokens[at+1].hash), kPrecedesLast, l.class)
	}
}

// minRow is the length from which a place in a line means something.
const minRow = 3

func (s *scene) mentionsLast(l *line) bool {
	for _, t := range l.tokens {
		if has(s.last, t.hash) {
			return true
		}
	}
	return false
}

// countedPlaces compares the position with the numbers that the screen shows: "done: 3" makes the fourth word the next.
func (s *scene) countedPlaces(f *features, l *line, at, end int) {
	for i := range s.lines {
		o := &s.lines[i]
		if o == l || o.class != classSingle || len(o.tokens) == 0 || !o.tokens[0].isNum {
			continue
		}
		n := o.tokens[0].num
		f.keyIf(int64(at) == n, kIndexNumber, l.class)
		f.keyIf(int64(end) == n, kEndIndexNumber, l.class)
	}
}

func neighbour(l *line, at int) uint32 {
	if at < 0 || at >= len(l.tokens) {
		return 0
	}
	return l.tokens[at].hash
}

// bridges follows a word that the line shares with another line, and from there one more.
func (s *scene) bridges(f *features, i, at int, df map[uint32]int) {
	l := &s.lines[i]
	for j, w := range l.tokens {
		if j == at || w.hash == l.tokens[at].hash || df[w.hash] < 2 || df[w.hash] > maxFrequency {
			continue
		}
		for k := range s.lines {
			o := &s.lines[k]
			if k == i || !has(o.tokens, w.hash) {
				continue
			}
			f.key(kBridge, l.class, o.class)
			f.rel(kBridgeAfter, l.class, o.class, flag(j > at))
			f.rel(kBridgeLabel, l.class, l.label, o.class, o.label)
			tail := o.tokens[len(o.tokens)-1].hash
			f.keyIf(df[tail] == 1, kBridgeTail, l.class, o.class)
			f.rel(kBridgeTail, l.class, o.class, tail)
			f.rel(kBridgeWord, l.class, o.class, neighbour(l, at+1), flag(j > at))
			s.bridgeOn(f, i, k, w.hash, df)
		}
	}
}

func (s *scene) bridgeOn(f *features, i, k int, by uint32, df map[uint32]int) {
	o := &s.lines[k]
	if o.class&classRow != classRow {
		return
	}
	for _, w := range o.tokens {
		if w.hash == by || df[w.hash] < 2 || df[w.hash] > maxFrequency {
			continue
		}
		for m := range s.lines {
			if m != i && m != k && s.lines[m].class&^classOld == classSingle && has(s.lines[m].tokens, w.hash) {
				f.rel(kBridgeTwice, s.lines[i].class, o.class, s.lines[m].class)
			}
		}
	}
}
