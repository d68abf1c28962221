package jail

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of attack classes in the documentation has all of them, and the tests that it names exist.
func TestEveryClassHasAnAttack(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOf(t, "..", ".", "../python", "../../sandbox", "../../sandbox/cgroup")
	row := regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([^|]*) \|$`)
	named := regexp.MustCompile("`([^`]+)`")
	var classes []int
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		class, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, class)
		names := named.FindAllStringSubmatch(m[2], -1)
		if len(names) == 0 {
			t.Errorf("class %d names no test", class)
		}
		for _, n := range names {
			test, sub, _ := strings.Cut(n[1], "/")
			if !tests[test] {
				t.Errorf("class %d names %s, which is not there", class, test)
			}
			at := slices.IndexFunc(attacks, func(a attack) bool { return a.name == sub })
			if test == "TestAttacks" && (at < 0 || !slices.Contains(attacks[at].classes, class)) {
				t.Errorf("class %d names the attack %q, which is not of it", class, sub)
			}
		}
	}
	for class := 1; class <= 26; class++ {
		if !slices.Contains(classes, class) {
			t.Errorf("class %d is not in the table", class)
		}
	}
	if len(classes) != 26 {
		t.Errorf("%d rows", len(classes))
	}
}

func testsOf(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	found := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
		}
	}
	return found
}
