package agent

import "slices"

// Places in a ranking.
const (
	rankNone uint32 = iota
	rankLeast
	rankMost
	rankBetween
	rankOnly
)

func rankOf(v int64, all []int64) uint32 {
	least, most := slices.Min(all), slices.Max(all)
	switch {
	case least == most:
		return rankOnly
	case v == least:
		return rankLeast
	case v == most:
		return rankMost
	}
	return rankBetween
}

// ranks compares the actions with one another: by how often their words stand on the screen, by the number that stands
// beside them, and by how many lines say the same of them.
func (s *scene) ranks(fs []features) {
	if len(s.actions) == 0 {
		return
	}
	counts := make([]int64, len(s.actions))
	for i := range s.actions {
		counts[i] = s.occurrences(&s.actions[i])
	}
	for i := range fs {
		fs[i].rel(kCount, rankOf(counts[i], counts))
		rows, singles := s.places(&s.actions[i])
		fs[i].key(kPlaces, rows, singles)
	}
	s.rankByNumber(fs)
	s.rankByCompany(fs)
}

func (s *scene) occurrences(c *candidate) int64 {
	var n int64
	for _, k := range c.keys {
		for i := range s.lines {
			if s.lines[i].class&classOld != 0 {
				continue
			}
			for _, t := range s.lines[i].tokens {
				if t.hash == k.hash {
					n++
				}
			}
		}
	}
	return n
}

// places counts, up to two, the rows and the single lines that name the action.
func (s *scene) places(c *candidate) (rows, singles uint32) {
	for i := range s.lines {
		l := &s.lines[i]
		for _, k := range c.keys {
			if !has(l.tokens, k.hash) {
				continue
			}
			switch l.class {
			case classRow:
				rows = min(rows+1, 2)
			case classSingle:
				singles = min(singles+1, 2)
			}
			break
		}
	}
	return rows, singles
}

// rowOf finds the only row that an action's words stand on: among those that are shown, else among those of the first
// screen.
func (s *scene) rowOf(c *candidate) *line {
	for _, class := range [...]uint32{classRow, classRow | classOld} {
		if l, n := s.rowIn(c, class); n > 0 {
			if n > 1 {
				return nil
			}
			return l
		}
	}
	return nil
}

func (s *scene) rowIn(c *candidate, class uint32) (found *line, n int) {
	for i := range s.lines {
		l := &s.lines[i]
		if l.class != class {
			continue
		}
		for _, k := range c.keys {
			if !k.isNum && has(l.tokens, k.hash) {
				found = l
				n++
				break
			}
		}
	}
	return found, n
}

// rankByNumber ranks the actions by the last number on their rows.
func (s *scene) rankByNumber(fs []features) {
	values := make([]int64, len(s.actions))
	ok := make([]bool, len(s.actions))
	var all []int64
	for i := range s.actions {
		l := s.rowOf(&s.actions[i])
		if l == nil {
			continue
		}
		for _, t := range l.tokens {
			if t.isNum {
				values[i], ok[i] = t.num, true
			}
		}
		if ok[i] {
			all = append(all, values[i])
		}
	}
	if len(all) < 2 {
		return
	}
	for i := range fs {
		if ok[i] {
			fs[i].key(kAssocRank, rankOf(values[i], all))
		}
	}
}

// rankByCompany ranks the actions by how many rows share the last word of theirs.
func (s *scene) rankByCompany(fs []features) {
	rows := make([]*line, len(s.actions))
	var all []int64
	company := make([]int64, len(s.actions))
	for i := range s.actions {
		rows[i] = s.rowOf(&s.actions[i])
		if rows[i] == nil || len(rows[i].tokens) == 0 {
			continue
		}
		last := rows[i].tokens[len(rows[i].tokens)-1].hash
		for j := range s.lines {
			o := &s.lines[j]
			if o.class == rows[i].class && o.label == rows[i].label && len(o.tokens) > 0 && o.tokens[len(o.tokens)-1].hash == last {
				company[i]++
			}
		}
		all = append(all, company[i])
	}
	if len(all) < 2 {
		return
	}
	for i := range fs {
		if company[i] > 0 {
			fs[i].rel(kAssocSame, rankOf(company[i], all))
		}
	}
}

type shown struct {
	value int64
	line  *line
}

const maxShown = 5

// single are the numbers on lines that stand alone, in order.
func (s *scene) single() []shown {
	var out []shown
	for i := range s.lines {
		l := &s.lines[i]
		if l.class&^classOld != classSingle {
			continue
		}
		for _, t := range l.tokens {
			if t.isNum && len(out) < maxShown {
				out = append(out, shown{t.num, l})
			}
		}
	}
	return out
}

// numbers relates actions that hold a number to one another and to the numbers on the screen.
func (s *scene) numbers(fs []features) {
	values := make([]int64, len(s.actions))
	ok := make([]bool, len(s.actions))
	var all []int64
	for i := range s.actions {
		for _, k := range s.actions[i].keys {
			if k.isNum {
				values[i], ok[i] = k.num, true
			}
		}
		if ok[i] {
			all = append(all, values[i])
		}
	}
	if len(all) < 2 {
		return
	}
	numbers := s.single()
	for i := range fs {
		if ok[i] {
			fs[i].key(kNumberRank, rankOf(values[i], all))
			fs[i].compare(values[i], numbers, all)
			fs[i].arithmetic(values[i], numbers)
		}
	}
}

func (f *features) compare(v int64, numbers []shown, all []int64) {
	for i, x := range numbers {
		sign := sign(v - x.value)
		f.key(kCompare, x.line.class, uint32(i), sign)
		f.rel(kCompareLabel, x.line.label, sign)
		f.keyIf(v == largestUpTo(x.value, all), kFit)
		if i > 0 && numbers[i-1].line == x.line {
			f.keyIf(v == nearest((numbers[i-1].value+x.value)/2, all), kMiddle)
		}
	}
}

func sign(d int64) uint32 {
	switch {
	case d < 0:
		return 1
	case d > 0:
		return 2
	}
	return 0
}

func largestUpTo(x int64, all []int64) int64 {
	best := int64(-1 << 62)
	for _, v := range all {
		if v <= x && v > best {
			best = v
		}
	}
	return best
}

func nearest(x int64, all []int64) int64 {
	best := all[0]
	for _, v := range all {
		if abs(v-x) < abs(best-x) || abs(v-x) == abs(best-x) && v < best {
			best = v
		}
	}
	return best
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// arithmetic tells which operation on two numbers of the screen gives the action's number.
func (f *features) arithmetic(v int64, numbers []shown) {
	for i := range numbers {
		for j := i + 1; j < len(numbers); j++ {
			x, y := numbers[i].value, numbers[j].value
			for op, r := range [...]int64{x + y, x - y, y - x, x * y} {
				if r == v {
					f.rel(kArithmetic, uint32(op))
					f.rel(kArithmeticLabel, uint32(op), numbers[j].line.label)
					for _, t := range numbers[j].line.tokens {
						if !t.isNum {
							f.rel(kArithmeticLabel, uint32(op), t.hash)
						}
					}
				}
			}
		}
	}
}
