package vector

import (
	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
)

// Condition is a part of a filter. The zero Condition holds always.
type Condition struct{ pb *pb.Condition }

// Equal holds when the key has that value: a string, an integer or a bool.
func Equal[T string | int | int32 | int64 | bool](key string, value T) Condition {
	switch v := any(value).(type) {
	case string:
		return Condition{pb.NewMatchKeyword(key, v)}
	case bool:
		return Condition{pb.NewMatchBool(key, v)}
	case int:
		return Condition{pb.NewMatchInt(key, int64(v))}
	case int32:
		return Condition{pb.NewMatchInt(key, int64(v))}
	case int64:
		return Condition{pb.NewMatchInt(key, v)}
	}
	return Never() // not reached: the cases are the type set
}

// In holds when the key has one of the values; with none it never holds.
func In(key string, values ...string) Condition {
	if len(values) == 0 {
		return Never()
	}
	return Condition{pb.NewMatchKeywords(key, values...)}
}

// Below holds when the key is a number under the limit.
func Below(key string, limit int64) Condition {
	return Condition{pb.NewRange(key, &pb.Range{Lt: pb.PtrOf(float64(limit))})}
}

// AtLeast holds when the key is a number not under the limit.
func AtLeast(key string, limit int64) Condition {
	return Condition{pb.NewRange(key, &pb.Range{Gte: pb.PtrOf(float64(limit))})}
}

// HasID holds for the points with these ids.
func HasID(ids ...uuid.UUID) Condition { return Condition{pb.NewHasID(pointIDs(ids)...)} }

// Never holds for no point.
func Never() Condition { return Condition{pb.NewHasID()} }

// All holds when every one does.
func All(parts ...Condition) Condition { return group(&pb.Filter{Must: conditions(parts)}) }

// Any holds when one does; with none it never holds.
func Any(parts ...Condition) Condition {
	if len(parts) == 0 {
		return Never()
	}
	return group(&pb.Filter{Should: conditions(parts)})
}

// Not holds when the condition does not.
func Not(c Condition) Condition { return group(&pb.Filter{MustNot: conditions([]Condition{c})}) }

func group(f *pb.Filter) Condition { return Condition{pb.NewFilterAsCondition(f)} }

func conditions(parts []Condition) []*pb.Condition {
	var out []*pb.Condition
	for _, p := range parts {
		if p.pb != nil {
			out = append(out, p.pb)
		}
	}
	return out
}

// filter is the condition as a request carries it.
func (c Condition) filter() *pb.Filter {
	switch {
	case c.pb == nil:
		return nil
	case c.pb.GetFilter() != nil:
		return c.pb.GetFilter()
	}
	return &pb.Filter{Must: []*pb.Condition{c.pb}}
}

func pointIDs(ids []uuid.UUID) []*pb.PointId {
	out := make([]*pb.PointId, len(ids))
	for i, id := range ids {
		out[i] = pb.NewIDUUID(id.String())
	}
	return out
}
