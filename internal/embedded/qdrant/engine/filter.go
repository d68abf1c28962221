package engine

import (
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/payload"
)

// maxFilterDepth bounds the nesting of filters: a request is data from outside,
// and evaluation recurses.
const maxFilterDepth = 32

// filter is a compiled filter over the slots of a collection. It is used with
// c.mu held.
type filter struct {
	c    *Collection
	test test // nil matches everything
	// from are the only slots that can match, ascending; meaningful when bounded.
	from    []uint32
	bounded bool
}

// test judges one point.
type test func(*point) (bool, error)

// point is the view a test has of a point: its slot and, read on demand, its
// payload. Inside a nested condition it is one element of a list and has no
// slot of its own.
type point struct {
	c      *Collection
	slot   uint32
	loaded bool
	fields map[string]*pb.Value
}

func (p *point) load() (map[string]*pb.Value, error) {
	if p.loaded {
		return p.fields, nil
	}
	var err error
	p.fields, err = p.c.payload(p.slot)
	p.loaded = err == nil
	return p.fields, err
}

// compile prepares a filter; nil and empty ones match every point.
func (c *Collection) compile(f *pb.Filter) (*filter, error) {
	out := &filter{c: c}
	if f == nil {
		return out, nil
	}
	b := builder{c: c}
	clause, err := b.filter(f, 0)
	if err != nil {
		return nil, err
	}
	out.test, out.from, out.bounded = clause.test, clause.from, clause.bounded
	return out, nil
}

// match judges the point in a slot. view is scratch space of the caller's, one
// for each goroutine, so that a scan allocates nothing.
func (f *filter) match(view *point, slot uint32) (bool, error) {
	if f.c.ids[slot].kind == idNone {
		return false, nil
	}
	if f.test == nil {
		return true, nil
	}
	*view = point{c: f.c, slot: slot}
	return f.test(view)
}

// each calls fn for every matching slot, ascending.
func (f *filter) each(fn func(slot uint32)) error {
	var view point
	visit := func(slot uint32) error {
		ok, err := f.match(&view, slot)
		if ok {
			fn(slot)
		}
		return err
	}
	if f.bounded {
		for _, slot := range f.from {
			if err := visit(slot); err != nil {
				return err
			}
		}
		return nil
	}
	for slot := range f.c.ids {
		if err := visit(uint32(slot)); err != nil {
			return err
		}
	}
	return nil
}

// clause is a compiled part of a filter: its test and, when bounded, the slots
// outside of which the test is false.
type clause struct {
	test    test
	from    []uint32
	bounded bool
}

// builder compiles; nested is set inside a nested condition, where the indexes
// do not speak of the element that is judged.
type builder struct {
	c      *Collection
	nested bool
}

func (b builder) filter(f *pb.Filter, depth int) (clause, error) {
	if depth > maxFilterDepth {
		return clause{}, errInvalid("filter is nested deeper than %d", maxFilterDepth)
	}
	var parts []clause
	for _, m := range f.GetMust() {
		one, err := b.condition(m, depth)
		if err != nil {
			return clause{}, err
		}
		parts = append(parts, one)
	}
	if len(f.GetShould()) > 0 {
		one, err := b.atLeast(f.GetShould(), 1, depth)
		if err != nil {
			return clause{}, err
		}
		parts = append(parts, one)
	}
	if m := f.GetMinShould(); m != nil {
		one, err := b.atLeast(m.GetConditions(), m.GetMinCount(), depth)
		if err != nil {
			return clause{}, err
		}
		parts = append(parts, one)
	}
	for _, m := range f.GetMustNot() {
		one, err := b.condition(m, depth)
		if err != nil {
			return clause{}, err
		}
		parts = append(parts, clause{test: not(one.test)})
	}
	return all(parts), nil
}

// all holds when every part does; it starts from the part with the fewest
// slots, and judges cheap parts (those with an index) first.
func all(parts []clause) clause {
	out := clause{}
	for _, p := range parts {
		if p.bounded && (!out.bounded || len(p.from) < len(out.from)) {
			out.from, out.bounded = p.from, true
		}
	}
	slices.SortStableFunc(parts, func(x, y clause) int { return rank(x) - rank(y) })
	out.test = func(p *point) (bool, error) {
		for _, part := range parts {
			if ok, err := part.test(p); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return out
}

func rank(c clause) int {
	if c.bounded {
		return 0
	}
	return 1
}

func not(t test) test {
	return func(p *point) (bool, error) {
		ok, err := t(p)
		return !ok && err == nil, err
	}
}

func (b builder) atLeast(conditions []*pb.Condition, n uint64, depth int) (clause, error) {
	parts := make([]clause, len(conditions))
	out := clause{bounded: n > 0}
	for i, m := range conditions {
		one, err := b.condition(m, depth)
		if err != nil {
			return clause{}, err
		}
		parts[i] = one
		out.bounded = out.bounded && one.bounded
		out.from = append(out.from, one.from...)
	}
	slices.Sort(out.from)
	out.from = slices.Compact(out.from)
	out.test = func(p *point) (bool, error) {
		hits := uint64(0)
		for _, part := range parts {
			if hits >= n {
				break
			}
			ok, err := part.test(p)
			if err != nil {
				return false, err
			}
			if ok {
				hits++
			}
		}
		return hits >= n, nil
	}
	return out, nil
}

func (b builder) condition(m *pb.Condition, depth int) (clause, error) {
	switch o := m.GetConditionOneOf().(type) {
	case *pb.Condition_Field:
		return b.field(o.Field)
	case *pb.Condition_Filter:
		return b.filter(o.Filter, depth+1)
	case *pb.Condition_HasId:
		return b.hasID(o.HasId.GetHasId())
	case *pb.Condition_IsEmpty:
		return b.values(o.IsEmpty.GetKey(), payload.IsEmpty)
	case *pb.Condition_IsNull:
		return b.values(o.IsNull.GetKey(), payload.IsNull)
	case *pb.Condition_Nested:
		return b.nestedFilter(o.Nested, depth+1)
	}
	return clause{}, errUnsupported(fmt.Sprintf("a filter condition of kind %T", m.GetConditionOneOf()))
}
