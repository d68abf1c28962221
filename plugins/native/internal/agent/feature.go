package agent

import "slices"

// Kinds of features. The numbers are hashed into the features: a change makes every checkpoint mean something else, and
// with it the format.
const (
	kOccur uint32 = iota + 1
	kOccurLabel
	kOccurPrev
	kOccurNext
	kOccurStart
	kOccurEnd
	kIndexStep
	kIndexNumber
	kEndIndexStep
	kEndIndexNumber
	kFollowsLast
	kPrecedesLast
	kLineDup
	kNowhere
	kCount
	kPlaces
	kBridge
	kBridgeAfter
	kBridgeLabel
	kBridgeWord
	kBridgeTwice
	kBridgeTail
	kAssocRank
	kAssocSame
	kNumberRank
	kCompare
	kCompareLabel
	kFit
	kMiddle
	kArithmetic
	kArithmeticLabel
	kLast
	kTried
	kLexical
	kWord
	kCross
)

// mix hashes a feature's kind and parts into 32 bits.
func mix(parts ...uint32) uint32 {
	h := uint32(hashSeed)
	for _, p := range parts {
		h = (h ^ p) * hashPrime
		h ^= h >> 15
		h *= 0x85ebca6b
		h ^= h >> 13
	}
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// group is the set of features of one action in one group. Features count once.
type group []uint32

func (g *group) add(parts ...uint32) { *g = append(*g, mix(parts...)) }

func (g *group) settle() {
	slices.Sort(*g)
	*g = slices.Compact(*g)
}

// features of one action.
type features struct {
	relational group
	crossing   group // the relational features whose sense the task's words decide; crossed with them
	lexical    group
	cross      group
}

// rel adds a relational feature, key one that is also crossed with the task's words.
func (f *features) rel(parts ...uint32) { f.relational.add(parts...) }

func (f *features) key(parts ...uint32) {
	f.relational.add(parts...)
	f.crossing.add(parts...)
}

// keyIf adds a key feature where it holds. That it does not hold is no feature: an action of which nothing can be said
// would otherwise look better than one of which something is false.
func (f *features) keyIf(holds bool, parts ...uint32) {
	if holds {
		f.key(parts...)
	}
}

const (
	maxCrossWords  = 12
	maxSingleWords = 6 // of a line that stands alone
	maxCross       = 200
)

// extract computes the features of every action.
func (s *scene) extract() []features {
	fs := make([]features, len(s.actions))
	df := s.lineFrequency()
	for i := range s.actions {
		s.relate(&fs[i], &s.actions[i], df)
		s.history(&fs[i], &s.actions[i])
		s.words(&fs[i], &s.actions[i])
	}
	s.ranks(fs)
	s.numbers(fs)
	words := s.taskWords()
	for i := range fs {
		fs[i].crossing.settle()
		fs[i].crossed(words)
		fs[i].relational.settle()
		fs[i].lexical.settle()
		fs[i].cross.settle()
	}
	return fs
}

// history relates an action to those that were taken.
func (s *scene) history(f *features, c *candidate) {
	if c.last {
		f.rel(kLast, flag(s.stuck))
	}
	if s.stuck {
		f.rel(kTried, flag(c.tried))
	}
}

// words pairs each word of the action with the words of the lines that stand alone.
func (s *scene) words(f *features, c *candidate) {
	const limit = 12
	for _, a := range c.tokens {
		f.lexical.add(kWord, a.hash)
		for i := range s.lines {
			l := &s.lines[i]
			if l.class != classSingle {
				continue
			}
			for j := 0; j < len(l.tokens) && j < limit; j++ {
				f.lexical.add(kLexical, l.label, l.tokens[j].hash, a.hash)
			}
		}
	}
}

// taskWords are the words that say what is asked: those of the first line and of short lines that stand alone.
func (s *scene) taskWords() []uint32 {
	var out []uint32
	for i := range s.lines {
		l := &s.lines[i]
		if l.class != classTask && (l.class != classSingle || len(l.tokens) > maxSingleWords) {
			continue
		}
		for _, t := range l.tokens {
			if !t.isNum && len(out) < maxCrossWords {
				out = append(out, t.hash)
			}
		}
	}
	return out
}

// crossed pairs the crossing features with the task's words: the same relation means one thing when the largest is asked
// for and another when the smallest is.
func (f *features) crossed(words []uint32) {
	for _, a := range f.crossing {
		for _, w := range words {
			if len(f.cross) == maxCross {
				return
			}
			f.cross.add(kCross, a, w)
		}
	}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
