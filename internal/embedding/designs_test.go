package embedding

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// designs reads sources that the native designer wrote: twelve designs, each
// also at another difficulty and, with the same choices of mechanic, about other
// documents.
func designs(t *testing.T) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/designs.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for part := range strings.SplitSeq("\n"+string(data), "\n-- ") {
		head, source, found := strings.Cut(part, " --\n")
		if !found {
			continue
		}
		design, version, _ := strings.Cut(head, " ")
		if out[design] == nil {
			out[design] = map[string]string{}
		}
		out[design][version] = source + "\n"
	}
	if len(out) != 12 {
		t.Fatalf("%d designs", len(out))
	}
	return out
}

// A designer that only turns the difficulty is stopped, one that takes up other
// facts or another mechanic is not.
func TestDesignsOfTheNativeDesigner(t *testing.T) {
	all := designs(t)
	names := slices.Sorted(maps.Keys(all))
	stopped := 0
	for i, name := range names {
		d := all[name]
		if similarity(d["base"], d["level"]) >= DefaultDuplicateThreshold {
			stopped++
		}
		if s := similarity(d["base"], d["facts"]); s >= DefaultDuplicateThreshold-0.01 {
			t.Errorf("design %s about other documents at %v", name, s)
		}
		for _, other := range names[:i] {
			if s := similarity(d["base"], all[other]["base"]); s >= SameKindSimilarity {
				t.Errorf("designs %s and %s at %v", name, other, s)
			}
		}
	}
	if stopped < 10 {
		t.Errorf("only %d of 12 changes of difficulty are near-duplicates", stopped)
	}
}
