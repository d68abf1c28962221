package payload

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	pb "github.com/qdrant/go-client/qdrant"
)

func compileMatch(m *pb.Match) (func(*pb.Value) bool, error) {
	switch k := m.GetMatchValue().(type) {
	case *pb.Match_Keyword:
		return func(v *pb.Value) bool { return isString(v) && v.GetStringValue() == k.Keyword }, nil
	case *pb.Match_Integer:
		return func(v *pb.Value) bool { return isInteger(v) && v.GetIntegerValue() == k.Integer }, nil
	case *pb.Match_Boolean:
		return func(v *pb.Value) bool {
			_, ok := v.GetKind().(*pb.Value_BoolValue)
			return ok && v.GetBoolValue() == k.Boolean
		}, nil
	case *pb.Match_Keywords:
		set := k.Keywords.GetStrings()
		return func(v *pb.Value) bool { return isString(v) && slices.Contains(set, v.GetStringValue()) }, nil
	case *pb.Match_Integers:
		set := k.Integers.GetIntegers()
		return func(v *pb.Value) bool { return isInteger(v) && slices.Contains(set, v.GetIntegerValue()) }, nil
	case *pb.Match_ExceptKeywords:
		set := k.ExceptKeywords.GetStrings()
		return func(v *pb.Value) bool {
			return !isNull(v) && (!isString(v) || !slices.Contains(set, v.GetStringValue()))
		}, nil
	case *pb.Match_ExceptIntegers:
		set := k.ExceptIntegers.GetIntegers()
		return func(v *pb.Value) bool {
			return !isNull(v) && (!isInteger(v) || !slices.Contains(set, v.GetIntegerValue()))
		}, nil
	case *pb.Match_Text:
		return func(v *pb.Value) bool { return isString(v) && strings.Contains(v.GetStringValue(), k.Text) }, nil
	case *pb.Match_TextAny:
		return compileWords(k.TextAny, anyWord), nil
	case *pb.Match_Phrase:
		return compileWords(k.Phrase, phrase), nil
	}
	return nil, fmt.Errorf("match of kind %T: %w", m.GetMatchValue(), ErrUnsupported)
}

// CompileWords is the match "text" of a key that has a text index: every word
// of the query is a word of the value, letter case aside.
func CompileWords(query string) Test {
	return anyOf(compileWords(query, allWords))
}

func compileWords(query string, judge func(have, want []string) bool) func(*pb.Value) bool {
	want := words(query)
	return func(v *pb.Value) bool {
		return len(want) > 0 && isString(v) && judge(words(v.GetStringValue()), want)
	}
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func anyWord(have, want []string) bool {
	return slices.ContainsFunc(want, func(w string) bool { return slices.Contains(have, w) })
}

func allWords(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

func phrase(have, want []string) bool {
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// InRange reports whether v is a number inside r.
func InRange(r *pb.Range, v *pb.Value) bool {
	switch k := v.GetKind().(type) {
	case *pb.Value_IntegerValue:
		return Inside(r, float64(k.IntegerValue))
	case *pb.Value_DoubleValue:
		return Inside(r, k.DoubleValue)
	}
	return false
}

// Inside reports whether x is inside r.
func Inside(r *pb.Range, x float64) bool {
	return (r.Lt == nil || x < *r.Lt) && (r.Lte == nil || x <= *r.Lte) &&
		(r.Gt == nil || x > *r.Gt) && (r.Gte == nil || x >= *r.Gte)
}

// timeLayouts are the spellings of a time that Qdrant's documentation names.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"}

func inDatetimeRange(r *pb.DatetimeRange, v *pb.Value) bool {
	if !isString(v) {
		return false
	}
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, v.GetStringValue())
		if err != nil {
			continue
		}
		return (r.Lt == nil || t.Before(r.Lt.AsTime())) && (r.Lte == nil || !t.After(r.Lte.AsTime())) &&
			(r.Gt == nil || t.After(r.Gt.AsTime())) && (r.Gte == nil || !t.Before(r.Gte.AsTime()))
	}
	return false
}

func isString(v *pb.Value) bool {
	_, ok := v.GetKind().(*pb.Value_StringValue)
	return ok
}

func isInteger(v *pb.Value) bool {
	_, ok := v.GetKind().(*pb.Value_IntegerValue)
	return ok
}

func isNull(v *pb.Value) bool {
	_, ok := v.GetKind().(*pb.Value_NullValue)
	return ok
}
