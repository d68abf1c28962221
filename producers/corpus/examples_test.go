package corpus

import (
	"strings"
	"testing"
)

// The corpus of the demo can be ingested whole, and it has the size and shape that its README states.
func TestExamples(t *testing.T) {
	log, sum := add(t, "../../examples/corpus")
	if sum.ProblemCount > 0 || len(sum.Skipped) > 0 || sum.Known > 0 {
		t.Fatalf("problems %v, skipped %v, %d repeated", sum.Problems, sum.Skipped, sum.Known)
	}
	if sum.Documents < 120 {
		t.Errorf("%d documents, at least 120 are promised", sum.Documents)
	}
	media, titles, folders := map[string]int{}, map[string]string{}, map[string]int{}
	for _, d := range log.documents() {
		folder, _, _ := strings.Cut(d.Source, "/")
		folders[folder]++
		media[d.MediaType]++
		if other, ok := titles[d.Title]; ok || d.Title == "" {
			t.Errorf("%s and %s share the title %q", other, d.Source, d.Title)
		}
		titles[d.Title] = d.Source
		if d.Chunks != 1 {
			t.Errorf("%s is cut into %d chunks", d.Source, d.Chunks)
		}
		if n := len(strings.Fields(d.Text)); n < 120 || n > 400 {
			t.Errorf("%s has %d words", d.Source, n)
		}
	}
	for _, f := range []string{"mathematics", "science", "programming", "procedures"} {
		if folders[f] < 25 {
			t.Errorf("folder %s has %d documents", f, folders[f])
		}
	}
	for _, m := range []string{mediaMarkdown, mediaPlain, mediaHTML, mediaJSONL} {
		if media[m] == 0 {
			t.Errorf("no document is %s", m)
		}
	}
}
