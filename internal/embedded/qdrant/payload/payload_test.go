package payload

import (
	"errors"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func fields(t *testing.T) map[string]*pb.Value {
	t.Helper()
	m, err := pb.TryValueMap(map[string]any{
		"kind": "game", "n": 7, "x": 2.5, "on": true, "none": nil, "empty": []any{},
		"tags": []any{"red", "green", nil}, "nums": []any{1, 2},
		"title": "The quick brown Fox", "when": "2026-05-01T10:00:00Z",
		"facts": []any{map[string]any{"name": "a", "v": 1}, map[string]any{"name": "b", "v": 2}},
		"deep":  map[string]any{"er": map[string]any{"z": "end"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPaths(t *testing.T) {
	f := fields(t)
	for key, want := range map[string]int{
		"kind": 1, "absent": 0, "tags": 1, "tags[]": 3, "tags[1]": 1, "tags[9]": 0,
		"facts[].name": 2, "facts[0].name": 1, "facts.name": 0, "deep.er.z": 1, "kind.x": 0,
	} {
		p, err := ParsePath(key)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if got := len(p.Values(f)); got != want {
			t.Errorf("%s: %d values, want %d", key, got, want)
		}
	}
	for _, bad := range []string{"", ".", "a..b", "a[", "a[x]", "a[1]b", "[0]", "a[-1]"} {
		if _, err := ParsePath(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestConditions(t *testing.T) {
	f := fields(t)
	day := func(d int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 5, d, 0, 0, 0, 0, time.UTC))
	}
	for name, c := range map[string]struct {
		cond *pb.Condition
		want bool
	}{
		"keyword":             {pb.NewMatch("kind", "game"), true},
		"keyword other":       {pb.NewMatch("kind", "tool"), false},
		"keyword of number":   {pb.NewMatch("n", "7"), false},
		"keyword in list":     {pb.NewMatch("tags", "green"), true},
		"integer":             {pb.NewMatchInt("n", 7), true},
		"integer of float":    {pb.NewMatchInt("x", 2), false},
		"bool":                {pb.NewMatchBool("on", true), true},
		"bool other":          {pb.NewMatchBool("on", false), false},
		"any":                 {pb.NewMatchKeywords("kind", "a", "game"), true},
		"any ints":            {pb.NewMatchInts("nums", 5, 2), true},
		"except":              {pb.NewMatchExcept("kind", "tool"), true},
		"except itself":       {pb.NewMatchExcept("kind", "game"), false},
		"except absent":       {pb.NewMatchExcept("absent", "game"), false},
		"except null":         {pb.NewMatchExcept("none", "game"), false},
		"except int":          {pb.NewMatchExceptInts("n", 8), true},
		"text":                {pb.NewMatchText("title", "quick brown"), true},
		"text case":           {pb.NewMatchText("title", "Quick"), false},
		"text any":            {pb.NewMatchTextAny("title", "cat FOX"), true},
		"phrase":              {pb.NewMatchPhrase("title", "brown fox"), true},
		"phrase order":        {pb.NewMatchPhrase("title", "fox brown"), false},
		"range":               {pb.NewRange("n", &pb.Range{Gte: pb.PtrOf(7.0), Lt: pb.PtrOf(8.0)}), true},
		"range out":           {pb.NewRange("n", &pb.Range{Gt: pb.PtrOf(7.0)}), false},
		"range float":         {pb.NewRange("x", &pb.Range{Lte: pb.PtrOf(2.5)}), true},
		"range string":        {pb.NewRange("kind", &pb.Range{Gt: pb.PtrOf(0.0)}), false},
		"datetime":            {pb.NewDatetimeRange("when", &pb.DatetimeRange{Gt: day(1), Lt: day(2)}), true},
		"datetime out":        {pb.NewDatetimeRange("when", &pb.DatetimeRange{Gte: day(2)}), false},
		"datetime not a time": {pb.NewDatetimeRange("kind", &pb.DatetimeRange{Gte: day(1)}), false},
		"count":               {pb.NewValuesCount("tags", &pb.ValuesCount{Gte: pb.PtrOf(uint64(3))}), true},
		"count absent":        {pb.NewValuesCount("absent", &pb.ValuesCount{Gt: pb.PtrOf(uint64(0))}), false},
	} {
		fc := c.cond.GetField()
		test, err := Compile(fc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := ParsePath(fc.GetKey())
		if err != nil {
			t.Fatal(err)
		}
		if got := test(p.Values(f)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestEmptyAndNull(t *testing.T) {
	f := fields(t)
	for key, want := range map[string][2]bool{
		"absent": {true, false}, "none": {true, true}, "empty": {true, false},
		"tags": {false, true}, "kind": {false, false},
	} {
		p, err := ParsePath(key)
		if err != nil {
			t.Fatal(err)
		}
		v := p.Values(f)
		if IsEmpty(v) != want[0] || IsNull(v) != want[1] {
			t.Errorf("%s: empty %v null %v, want %v", key, IsEmpty(v), IsNull(v), want)
		}
	}
}

func TestUnsupportedConditionsAreRefused(t *testing.T) {
	if _, err := Compile(pb.NewGeoRadius("g", 1, 2, 3).GetField()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("geo: %v", err)
	}
	if _, err := Compile(&pb.FieldCondition{Key: "k"}); err == nil {
		t.Error("an empty condition was accepted")
	}
	if _, err := Compile(&pb.FieldCondition{Key: "k", Match: &pb.Match{}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("empty match: %v", err)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"a", "a.b[].c[3]", "[", "a[", "a]", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		p, err := ParsePath(key)
		if err == nil && len(p) == 0 {
			t.Fatal("no steps and no error")
		}
	})
}
