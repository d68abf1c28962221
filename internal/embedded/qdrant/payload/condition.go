package payload

import (
	"errors"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"
)

// ErrUnsupported marks a condition that this server does not evaluate. It is
// refused by name, never taken as true.
var ErrUnsupported = errors.New("not supported by the embedded vector server")

// Test judges the values that a key names, as Path.Values returned them.
type Test func(values []*pb.Value) bool

// Compile turns a field condition into a test of the values of its key. A
// condition that names several kinds at once holds when all of them do.
func Compile(c *pb.FieldCondition) (Test, error) {
	if c.GetGeoBoundingBox() != nil || c.GetGeoRadius() != nil || c.GetGeoPolygon() != nil {
		return nil, fmt.Errorf("geo condition on %q: %w", c.GetKey(), ErrUnsupported)
	}
	var all []Test
	if m := c.GetMatch(); m != nil {
		one, err := compileMatch(m)
		if err != nil {
			return nil, fmt.Errorf("condition on %q: %w", c.GetKey(), err)
		}
		all = append(all, anyOf(one))
	}
	if r := c.GetRange(); r != nil {
		all = append(all, anyOf(func(v *pb.Value) bool { return InRange(r, v) }))
	}
	if r := c.GetDatetimeRange(); r != nil {
		all = append(all, anyOf(func(v *pb.Value) bool { return inDatetimeRange(r, v) }))
	}
	if n := c.GetValuesCount(); n != nil {
		all = append(all, func(values []*pb.Value) bool { return countIn(n, values) })
	}
	if c.IsEmpty != nil {
		all = append(all, func(values []*pb.Value) bool { return IsEmpty(values) == c.GetIsEmpty() })
	}
	if c.IsNull != nil {
		all = append(all, func(values []*pb.Value) bool { return IsNull(values) == c.GetIsNull() })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("condition on %q says nothing to compare with", c.GetKey())
	}
	return func(values []*pb.Value) bool {
		for _, t := range all {
			if !t(values) {
				return false
			}
		}
		return true
	}, nil
}

// anyOf makes a test of one value a test of all that a key names.
func anyOf(one func(*pb.Value) bool) Test {
	return func(values []*pb.Value) bool {
		for _, v := range values {
			l := v.GetListValue()
			if l == nil {
				if one(v) {
					return true
				}
				continue
			}
			for _, item := range l.GetValues() {
				if one(item) {
					return true
				}
			}
		}
		return false
	}
}

// IsEmpty reports whether a key has no value: absent, null, or an empty list.
func IsEmpty(values []*pb.Value) bool {
	for _, v := range Flatten(values) {
		if !isNull(v) {
			return false
		}
	}
	return true
}

// IsNull reports whether a key's value is null, or a list that holds null.
func IsNull(values []*pb.Value) bool {
	for _, v := range Flatten(values) {
		if isNull(v) {
			return true
		}
	}
	return false
}

func countIn(r *pb.ValuesCount, values []*pb.Value) bool {
	n := uint64(0)
	for _, v := range values {
		if l := v.GetListValue(); l != nil {
			n += uint64(len(l.GetValues()))
		} else if !isNull(v) {
			n++
		}
	}
	return (r.Lt == nil || n < *r.Lt) && (r.Lte == nil || n <= *r.Lte) &&
		(r.Gt == nil || n > *r.Gt) && (r.Gte == nil || n >= *r.Gte)
}
