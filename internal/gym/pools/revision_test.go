package pools

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record the adapters' files as they are")

const adapters = "../python/worker/spade_pools"

// TestRevisionsAreRaised compares the files of each adapter with those that were recorded of its revision: what changes an
// adapter must not change a pool that somebody imported before.
func TestRevisionsAreRaised(t *testing.T) {
	revisions := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    "(\w+)": (\d+),$`).FindAllStringSubmatch(module(t, "revisions"), -1) {
		revisions[m[1]] = m[2]
	}
	var got strings.Builder
	for _, s := range sets {
		if revisions[s.distribution] == "" {
			t.Errorf("the adapter of %s has no revision", s.distribution)
		}
		fmt.Fprintf(&got, "%s %s %x\n", s.distribution, revisions[s.distribution], files(t, s.adapter))
	}
	golden := filepath.Join("testdata", "revisions.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("an adapter is not what was recorded of its revision: raise it in revisions.py, unless no episode of any "+
			"environment can come out otherwise, and record the files with -update; now\n%swant\n%s", got.String(), want)
	}
}

// files is a digest of an adapter's module and of all of ours that it imports.
func files(t *testing.T, name string) []byte {
	t.Helper()
	imports := regexp.MustCompile(`(?m)^from \.(\w*) import (.*?)(?: as .*)?(?:  #.*)?$`)
	names := []string{name}
	for i := 0; i < len(names); i++ { // it grows
		for _, m := range imports.FindAllStringSubmatch(module(t, names[i]), -1) {
			found := []string{m[1]}
			if m[1] == "" {
				found = strings.Split(m[2], ", ")
			}
			for _, other := range found {
				if other != "revisions" && !slices.Contains(names, other) {
					names = append(names, other)
				}
			}
		}
	}
	slices.Sort(names)
	h := sha256.New()
	for _, n := range names {
		text := module(t, n)
		fmt.Fprintf(h, "%s %d\n%s", n, len(text), text)
	}
	return h.Sum(nil)
}

func module(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(adapters, name+".py"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
