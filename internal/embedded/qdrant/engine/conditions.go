package engine

import (
	"errors"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/index"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/payload"
)

// values is a condition on what a key holds, read from the payload.
func (b builder) values(key string, holds payload.Test) (clause, error) {
	path, err := payload.ParsePath(key)
	if err != nil {
		return clause{}, errInvalid("%v", err)
	}
	return clause{test: func(p *point) (bool, error) {
		fields, err := p.load()
		if err != nil {
			return false, err
		}
		return holds(path.Values(fields)), nil
	}}, nil
}

func (b builder) hasID(in []*pb.PointId) (clause, error) {
	ids, err := parseIDs(in)
	if err != nil {
		return clause{}, err
	}
	var slots []uint32
	for _, id := range ids {
		if slot, ok := b.c.slotOf[id]; ok {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	slots = slices.Compact(slots)
	return clause{from: slots, bounded: true, test: func(p *point) (bool, error) {
		_, found := slices.BinarySearch(slots, p.slot)
		return found, nil
	}}, nil
}

// nestedFilter holds when one element of the list under the key passes the
// whole filter.
func (b builder) nestedFilter(n *pb.NestedCondition, depth int) (clause, error) {
	inner, err := builder{c: b.c, nested: true}.filter(n.GetFilter(), depth)
	if err != nil {
		return clause{}, err
	}
	path, err := payload.ParsePath(n.GetKey())
	if err != nil {
		return clause{}, errInvalid("%v", err)
	}
	return clause{test: func(p *point) (bool, error) {
		fields, err := p.load()
		if err != nil {
			return false, err
		}
		for _, v := range payload.Flatten(path.Values(fields)) {
			s := v.GetStructValue()
			if s == nil {
				continue
			}
			ok, err := inner.test(&point{c: p.c, slot: p.slot, loaded: true, fields: s.GetFields()})
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}}, nil
}

func (b builder) field(fc *pb.FieldCondition) (clause, error) {
	indexed := b.c.fields[fc.GetKey()]
	if words, ok := fc.GetMatch().GetMatchValue().(*pb.Match_Text); ok && indexed != nil && indexed.kind == pb.FieldType_FieldTypeText {
		return b.values(fc.GetKey(), payload.CompileWords(words.Text))
	}
	if indexed != nil && indexed.values != nil && !b.nested {
		if c, ok := fromIndex(indexed.values, fc); ok {
			return c, nil
		}
	}
	holds, err := payload.Compile(fc)
	if errors.Is(err, payload.ErrUnsupported) {
		return clause{}, &Error{Kind: Unsupported, Msg: err.Error()}
	}
	if err != nil {
		return clause{}, errInvalid("%v", err)
	}
	return b.values(fc.GetKey(), holds)
}

// fromIndex compiles a condition that the index alone can judge: equality with
// one or several values of its kind, or a range over integers.
func fromIndex(f *index.Field, fc *pb.FieldCondition) (clause, bool) {
	if fc.GetDatetimeRange() != nil || fc.GetValuesCount() != nil || fc.IsEmpty != nil || fc.IsNull != nil ||
		fc.GetGeoBoundingBox() != nil || fc.GetGeoRadius() != nil || fc.GetGeoPolygon() != nil {
		return clause{}, false
	}
	wanted, isMatch := wantedValues(fc.GetMatch())
	switch {
	case isMatch && fc.GetRange() == nil:
		return equals(f, wanted)
	case fc.GetMatch() == nil && fc.GetRange() != nil && f.Kind() == index.Integer && f.Complete():
		r := fc.GetRange()
		inside := func(v index.Value) bool { return payload.Inside(r, float64(v.Int)) }
		return clause{test: func(p *point) (bool, error) { return f.Any(p.slot, inside), nil }}, true
	}
	return clause{}, false
}

// equals is not ok when the index holds no values of the wanted kind: it cannot
// say which points do.
func equals(f *index.Field, wanted []index.Value) (clause, bool) {
	out := clause{bounded: true}
	for _, v := range wanted {
		if v.Kind != f.Kind() {
			return clause{}, false
		}
		if len(wanted) == 1 {
			out.from = f.Slots(v)
		} else {
			out.from = append(out.from, f.Slots(v)...)
		}
	}
	if len(wanted) > 1 {
		slices.Sort(out.from)
		out.from = slices.Compact(out.from)
	}
	among := oneOf(wanted)
	out.test = func(p *point) (bool, error) { return f.Any(p.slot, among), nil }
	return out, true
}

// oneOf is a membership test that stays fast for long lists.
func oneOf(wanted []index.Value) func(index.Value) bool {
	if len(wanted) <= 8 {
		return func(v index.Value) bool { return slices.Contains(wanted, v) }
	}
	set := make(map[index.Value]struct{}, len(wanted))
	for _, v := range wanted {
		set[v] = struct{}{}
	}
	return func(v index.Value) bool {
		_, ok := set[v]
		return ok
	}
}

func wantedValues(m *pb.Match) ([]index.Value, bool) {
	switch k := m.GetMatchValue().(type) {
	case *pb.Match_Keyword:
		return []index.Value{{Kind: index.Keyword, Str: k.Keyword}}, true
	case *pb.Match_Integer:
		return []index.Value{{Kind: index.Integer, Int: k.Integer}}, true
	case *pb.Match_Boolean:
		v, _ := index.Of(pb.NewValueBool(k.Boolean))
		return []index.Value{v}, true
	case *pb.Match_Keywords:
		out := make([]index.Value, 0, len(k.Keywords.GetStrings()))
		for _, s := range k.Keywords.GetStrings() {
			out = append(out, index.Value{Kind: index.Keyword, Str: s})
		}
		return out, true
	case *pb.Match_Integers:
		out := make([]index.Value, 0, len(k.Integers.GetIntegers()))
		for _, n := range k.Integers.GetIntegers() {
			out = append(out, index.Value{Kind: index.Integer, Int: n})
		}
		return out, true
	}
	return nil, false
}
