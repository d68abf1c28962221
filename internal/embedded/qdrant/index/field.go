package index

import (
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
)

// Value is one scalar that a key holds; comparable, so it can be a map key.
type Value struct {
	Kind Kind
	Int  int64 // the integer, or the bool as 0 and 1
	Str  string
}

// Kind says which scalar a Value or a Field is.
type Kind uint8

// The kinds that are indexed. Other field types are accepted by the server and
// evaluated from payloads.
const (
	Keyword Kind = iota + 1
	Integer
	Bool
)

// KindOf maps a Qdrant field type to a kind; ok is false for a type that keeps
// no index here.
func KindOf(t pb.FieldType) (kind Kind, ok bool) {
	switch t {
	case pb.FieldType_FieldTypeKeyword, pb.FieldType_FieldTypeUuid:
		return Keyword, true
	case pb.FieldType_FieldTypeInteger:
		return Integer, true
	case pb.FieldType_FieldTypeBool:
		return Bool, true
	}
	return 0, false
}

// Of turns a payload value into an index value; ok is false for null, numbers
// with a fraction, lists and structs.
func Of(v *pb.Value) (Value, bool) {
	switch k := v.GetKind().(type) {
	case *pb.Value_StringValue:
		return Value{Kind: Keyword, Str: k.StringValue}, true
	case *pb.Value_IntegerValue:
		return Value{Kind: Integer, Int: k.IntegerValue}, true
	case *pb.Value_BoolValue:
		if k.BoolValue {
			return Value{Kind: Bool, Int: 1}, true
		}
		return Value{Kind: Bool}, true
	}
	return Value{}, false
}

// Field indexes one key. It is not safe for concurrent use; the collection's
// lock guards it.
type Field struct {
	kind    Kind
	dict    map[Value]uint32 // value → place in entries
	entries []entry
	free    []uint32 // entries without points, for reuse
	// held names per slot what it holds: 0 nothing, n+1 entry n, or with
	// manyBit set that the entries are in many.
	held []uint32
	many map[uint32][]uint32
	// odd counts the slots with a value of another kind: while there are any,
	// only the payloads know what a range over the key matches.
	odd map[uint32]struct{}
}

type entry struct {
	value Value
	slots []uint32 // ascending
}

const manyBit = 1 << 31

// New returns an empty index of values of one kind.
func New(kind Kind) *Field {
	return &Field{
		kind: kind, dict: map[Value]uint32{},
		many: map[uint32][]uint32{}, odd: map[uint32]struct{}{},
	}
}

// Kind is the kind of the values in the index.
func (f *Field) Kind() Kind { return f.kind }

// Complete reports whether every value under the key is in the index.
func (f *Field) Complete() bool { return len(f.odd) == 0 }

// Points is the number of points that hold at least one indexed value.
func (f *Field) Points() int {
	n := 0
	for _, h := range f.held {
		if h != 0 {
			n++
		}
	}
	return n
}

// Set replaces what the slot holds by the values that its payload has under
// the key, lists flattened.
func (f *Field) Set(slot uint32, values []*pb.Value) {
	f.Remove(slot)
	var places []uint32
	for _, v := range values {
		iv, ok := Of(v)
		if !ok || iv.Kind != f.kind {
			f.odd[slot] = struct{}{}
			continue
		}
		if at := f.intern(iv); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	for int(slot) >= len(f.held) {
		f.held = append(f.held, 0)
	}
	for _, at := range places {
		f.entries[at].slots = insert(f.entries[at].slots, slot)
	}
	switch len(places) {
	case 0:
	case 1:
		f.held[slot] = places[0] + 1
	default:
		f.held[slot] = manyBit
		f.many[slot] = places
	}
}

// Remove forgets what the slot holds.
func (f *Field) Remove(slot uint32) {
	delete(f.odd, slot)
	if int(slot) >= len(f.held) || f.held[slot] == 0 {
		return
	}
	for _, at := range f.places(slot) {
		e := &f.entries[at]
		e.slots = remove(e.slots, slot)
		if len(e.slots) == 0 {
			delete(f.dict, e.value)
			*e = entry{}
			f.free = append(f.free, at)
		}
	}
	f.held[slot] = 0
	delete(f.many, slot)
}

// Slots returns the ascending slots that hold v. The caller must not change it.
func (f *Field) Slots(v Value) []uint32 {
	at, ok := f.dict[v]
	if !ok {
		return nil
	}
	return f.entries[at].slots
}

// Any reports whether the slot holds a value for which test is true.
func (f *Field) Any(slot uint32, test func(Value) bool) bool {
	if int(slot) >= len(f.held) {
		return false
	}
	switch h := f.held[slot]; {
	case h == 0:
		return false
	case h != manyBit:
		return test(f.entries[h-1].value)
	}
	for _, at := range f.many[slot] {
		if test(f.entries[at].value) {
			return true
		}
	}
	return false
}

func (f *Field) places(slot uint32) []uint32 {
	if f.held[slot] == manyBit {
		return f.many[slot]
	}
	return []uint32{f.held[slot] - 1}
}

func (f *Field) intern(v Value) uint32 {
	if at, ok := f.dict[v]; ok {
		return at
	}
	var at uint32
	if n := len(f.free); n > 0 {
		at, f.free = f.free[n-1], f.free[:n-1]
	} else {
		at = uint32(len(f.entries))
		f.entries = append(f.entries, entry{})
	}
	f.entries[at].value = v
	f.dict[v] = at
	return at
}

// insert keeps s ascending; a new slot is nearly always the highest.
func insert(s []uint32, slot uint32) []uint32 {
	if len(s) == 0 || s[len(s)-1] < slot {
		return append(s, slot)
	}
	at, found := slices.BinarySearch(s, slot)
	if found {
		return s
	}
	return slices.Insert(s, at, slot)
}

func remove(s []uint32, slot uint32) []uint32 {
	at, found := slices.BinarySearch(s, slot)
	if !found {
		return s
	}
	return slices.Delete(s, at, at+1)
}
