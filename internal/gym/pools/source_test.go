package pools

import (
	"math"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

func TestEntrySource(t *testing.T) {
	s, _ := setOf("gymnasium")
	src, err := entrySource(s, catalogue{Version: "1.4.0", Adapter: 3}, listed{Name: "FrozenLake-v1", Seeds: [2]uint64{0, 9}, Options: map[string]any{
		"map_name": "4x4", "is_slippery": true, "rate": 0.5, "desc": []any{"SF", nil},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `# FrozenLake-v1 of gymnasium 1.4.0 (MIT)
from spade_pools.gymnasium_pool import make

Env = make("FrozenLake-v1", version="1.4.0", seeds=(0, 9), adapter=3, desc=["SF", None], is_slippery=True, map_name="4x4", rate=0.5)
`
	if src != (gym.Source{Runtime: gym.RuntimePython, Package: "gymnasium", Code: want}) {
		t.Errorf("source %+v\nwant code\n%s", src, want)
	}
}

func TestQuoteLeavesNoWayOut(t *testing.T) {
	for text, want := range map[string]string{
		`a"b`:     `"a\"b"`,
		`a\`:      `"a\\"`,
		"a\nb":    `"a\U0000000ab"`,
		"\x00":    `"\U00000000"`,
		"é\u2028": `"\U000000e9\U00002028"`,
		"😀":       `"\U0001f600"`,
		"'''":     `"'''"`,
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	for name, options := range map[string]map[string]any{
		"name":    {"a b": 1.0},
		"keyword": {"x=print(1)": 1.0},
		"empty":   {"": 1.0},
		"number":  {"x": math.NaN()},
		"object":  {"x": map[string]any{}},
	} {
		if got, err := keywords(options); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, err := keywords(nil); err != nil || got != "" {
		t.Errorf("no options: %q, %v", got, err)
	}
}

func TestDecodeTrustsNothing(t *testing.T) {
	entries := func(list string) string {
		return `{"version": "1.0", "adapter": 2, "entries": [` + list + `], "missing": []}`
	}
	good := `{"name": "A-v1", "seeds": [0, 9], "options": {}}`
	for name, text := range map[string]string{
		"not JSON":         "[",
		"nothing":          entries(""),
		"version":          `{"version": "1\n0", "adapter": 2, "entries": [` + good + `]}`,
		"revision":         `{"version": "1.0", "entries": [` + good + `]}`,
		"odd revision":     `{"version": "1.0", "adapter": "2)", "entries": [` + good + `]}`,
		"quote in a name":  entries(`{"name": "a\"b", "seeds": [0, 1]}`),
		"line in a name":   entries(`{"name": "a\nimport os", "seeds": [0, 1]}`),
		"escape in a name": entries(`{"name": "a\u001b[2J", "seeds": [0, 1]}`),
		"long name":        entries(`{"name": "` + strings.Repeat("a", 200) + `", "seeds": [0, 1]}`),
		"option for name":  entries(`{"name": "-rf", "seeds": [0, 1]}`),
		"twice":            entries(good + "," + good),
		"seeds backwards":  entries(`{"name": "A", "seeds": [2, 1]}`),
		"negative seed":    entries(`{"name": "A", "seeds": [-1, 1]}`),
		"too many":         entries(good + strings.Repeat(`,{"name": "B", "seeds": [0, 1]}`, maxEntries)),
		"missing":          `{"version": "1", "adapter": 2, "entries": [` + good + `], "missing": [{"name": "\u0007"}]}`,
	} {
		if got, err := decode(text); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got, err := decode(entries(good))
	if err != nil || got.Entries[0].Name != "A-v1" || got.Entries[0].Seeds != [2]uint64{0, 9} {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"version": "1.0", "adapter": 1, "entries": [{"name": "A", "seeds": [0, 9], "options": {"x": [1, "a"]}}], "missing": []}`)
	s, _ := setOf("gymnasium")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := decode(text)
		if err != nil {
			return
		}
		for _, e := range c.Entries {
			src, err := entrySource(s, c, e)
			if err != nil {
				continue
			}
			if strings.Count(src.Code, "\n") != 4 {
				t.Errorf("%q makes more than one statement:\n%s", text, src.Code)
			}
		}
	})
}
