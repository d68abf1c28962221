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
	kBridge
	kBridgeLabel
	kBridgeWord
	kBridgeTwice
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
	kStuck
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
	abstract   group // the relational features that name no word of the environment; crossed with the task's words
	lexical    group
	cross      group
}

// rel adds a relational feature that names words, abs one that does not.
func (f *features) rel(parts ...uint32) { f.relational.add(parts...) }

func (f *features) abs(parts ...uint32) {
	f.relational.add(parts...)
	f.abstract.add(parts...)
}

const (
	maxCrossWords = 8
	maxCross      = 160
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
	for i := range fs {
		fs[i].abstract.settle()
		s.crossed(&fs[i])
		fs[i].relational.settle()
		fs[i].lexical.settle()
		fs[i].cross.settle()
	}
	return fs
}

// history relates an action to those that were taken.
func (s *scene) history(f *features, c *candidate) {
	if c.last {
		f.abs(kLast, flag(s.stuck))
	}
	if c.tried {
		f.abs(kTried, flag(s.stuck))
	}
	f.abs(kStuck, flag(c.last), flag(s.stuck))
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

// crossed pairs the abstract features with the words of the task line: the same relation means one thing when the
// largest is asked for and another when the smallest is.
func (s *scene) crossed(f *features) {
	for _, a := range f.abstract {
		for j := 0; j < len(s.first) && j < maxCrossWords; j++ {
			if len(f.cross) == maxCross {
				return
			}
			f.cross.add(kCross, a, s.first[j].hash)
		}
	}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
